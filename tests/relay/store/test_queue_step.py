"""The step of the schema that brought the queue, taken with runs in the record: they are placed as new ones are."""

from __future__ import annotations

from dataclasses import replace

from alembic import command
from alembic.config import Config
from sqlalchemy import inspect, select

from relay.queue_views import WorkClass
from relay.store.engine import Store, upgrade_database
from relay.store.models import Run, Trigger
from tests.relay.worker_story import arrive, must_lease, new_run

BY_HAND, OF_AUDITS = (Trigger.RERUN, Trigger.MANUAL), (Trigger.AUDIT, Trigger.CONFIRM)


def _places(store: Store) -> list[tuple[WorkClass, str, bool]]:
    with store.reading() as session:
        rows = session.scalars(select(Run).order_by(Run.id))
        return [(run.work_class, run.group_key, run.asked) for run in rows]


def test_runs_from_before_keep_their_place_in_the_queue(store: Store) -> None:
    push = replace(new_run(pr_number=None), base_ref="refs/heads/main", repo="PyTorch/PyTorch")
    for new in (
        new_run(pr_number=7),
        *(
            replace(new_run(pr_number=8), identity=f"by hand {by}", trigger=by)
            for by in (Trigger.RERUN, Trigger.MANUAL)
        ),
        push,
        *(replace(push, identity=f"of audits {by}", trigger=by) for by in OF_AUDITS),
    ):
        arrive(store, new)
    before = _places(store)
    assert len(set(before)) == 4
    config = Config()
    config.set_main_option("script_location", "relay.store:migrations")
    with store.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0013")
    with_it = {"work_class", "group_key", "asked", "served_s", "served_at"}
    assert not with_it & {column["name"] for column in inspect(store.engine).get_columns("runs")}
    upgrade_database(store.engine)
    assert _places(store) == before
    assert must_lease(store).run.asked, "a rerun by hand counts as urgent as the merged change after it"
