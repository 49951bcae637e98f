"""The steps of the schema, taken with rows in the tables: an upgrade of a service in use loses nothing, nor does the
way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text

from relay.contract import Observation
from relay.store import migrations
from relay.store.engine import Store, upgrade_database
from tests.relay.worker_story import arrive_and_plan, must_lease, names, post_results, result, results, verdicts

_SCRIPTS = ScriptDirectory(str(Path(migrations.__file__).parent))
_REVISIONS = sorted(step.revision for step in _SCRIPTS.walk_revisions())


def _go(store: Store, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", "relay.store:migrations")
    with store.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, revision)


@pytest.mark.parametrize("revision", _REVISIONS[:-1])
def test_rows_survive_the_way_down_and_up_again(store: Store, revision: str) -> None:
    """A run with results, taken back to an older schema and forward again, has the same verdicts."""
    run_id = arrive_and_plan(store, [names(2)])
    leased = must_lease(store)
    post_results(store, leased, results(leased, [result(name, Observation.PASSED) for name in names(2)]))
    before = verdicts(store, run_id)
    _go(store, revision)
    with store.engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM attempts")) == 2
    upgrade_database(store.engine)
    assert verdicts(store, run_id) == before


def test_the_second_step_down_takes_away_exactly_what_it_brought(store: Store) -> None:
    _go(store, "0002")
    with_it = {table: {c["name"] for c in inspect(store.engine).get_columns(table)} for table in ("runs", "tests")}
    _go(store, "0001")
    found = inspect(store.engine)
    assert "operator_uses" not in found.get_table_names()
    assert with_it["runs"] - {c["name"] for c in found.get_columns("runs")} == {"tested_on"}
    assert with_it["tests"] - {c["name"] for c in found.get_columns("tests")} == {"isolate", "timeout_s"}


def test_rows_written_before_the_second_step_count_as_neither_isolated_nor_reused(store: Store) -> None:
    """The new columns are filled for old rows."""
    arrive_and_plan(store, [names(1)])
    _go(store, "0001")
    upgrade_database(store.engine)
    assert must_lease(store).tests[0].isolate is False
