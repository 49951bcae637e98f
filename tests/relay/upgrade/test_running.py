"""A report's tests run on both of its releases: two runs of one commit each, and what differs once both have ended."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from relay.contract import Observation, ShardKind
from relay.errors import ConflictError, NotFoundError
from relay.queue_views import WorkClass
from relay.runs.creation import cancel_run
from relay.store.engine import Store
from relay.store.models import Run, Shard
from relay.upgrade.keeping import keep_report, kept_report, read_publication
from relay.upgrade.listing import existing_upgrade
from relay.upgrade.reading import outcome_difference
from relay.upgrade.releases import release_in
from relay.upgrade.running import execution_view, open_execution
from relay.upgrade.settling import base_test, settle_upgrades
from relay.upgrade.views import DutyWord, ExecutionAsked, ExecutionView, OutcomeKind
from relay.upgrade.writing import report_json
from relay.views import Conclusion
from selector.types import BaseTest
from selector.upgrade.types import Origin, UpgradeReport
from tests.relay.stories import Story, ended, passed, planned, report_of
from tests.relay.upgrade_story import BASE_COMMIT, HEAD_COMMIT, upgrade_report

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
REPO, URL = "pytorch/pytorch", "https://relay.example.org"
MUST = ExecutionAsked(duties=(DutyWord.MUST,))


def keep(store: Store, report: UpgradeReport) -> int:
    with store.writing() as session:
        return keep_report(session, read_publication(report_json(report)), "release duty", NOW)[0].id


def execute(store: Store, upgrade: int, asked: ExecutionAsked = MUST) -> tuple[int, int]:
    with store.writing() as session:
        base, head = open_execution(session, existing_upgrade(session, upgrade), asked, REPO, NOW)
        return base.id, head.id


def seen(store: Store, upgrade: int) -> ExecutionView:
    with store.reading() as session:
        return execution_view(session, existing_upgrade(session, upgrade), URL)


def variant(base: str) -> str:
    """As the device's framework names it."""
    file, cls, name = base.split("::")
    return f"{file}::{cls}SPYRE::{name}_spyre_float32"


def run_due(story: Story, broken: Mapping[int, frozenset[str]]) -> None:
    """All that is due: every test that a run asks for has one variant, which passes unless the run breaks it."""
    while story.due():
        shard_id, lease_id, tests = story.lease()
        with story.store.reading() as session:
            shard = session.get_one(Shard, shard_id)
            run_id, kind, asked = shard.run_id, shard.kind, session.get_one(Run, shard.run_id).only
        if kind is ShardKind.SELECT:
            story.give(shard_id, lease_id, report_of([[planned(variant(it), base=it) for it in asked]]))
            continue
        failing = {variant(it) for it in broken.get(run_id, ())}
        story.report(
            *(shard_id, lease_id),
            [ended(it, Observation.FAILED, "1 != 2") if it in failing else passed(it) for it in tests],
        )
        story.finish(shard_id, lease_id)


def test_both_runs_are_of_one_commit_and_name_the_release_and_the_tests_as_they_are_called_there(store: Store) -> None:
    upgrade = keep(store, upgrade_report(60))
    base_id, head_id = execute(store, upgrade)
    assert execute(store, upgrade) == (base_id, head_id), "asked again, it is the same"
    with store.reading() as session:
        base, head = session.get_one(Run, base_id), session.get_one(Run, head_id)
    for run, commit, release in ((base, BASE_COMMIT, "2.13"), (head, HEAD_COMMIT, "2.14")):
        assert (run.base_sha, run.head_sha, run.release) == (commit, commit, release)
        assert (run.work_class, run.asked, run.device, run.repo) == (WorkClass.AUDIT, True, "spyre", REPO)
    assert len(base.only) == len(head.only) == 6
    moved = {f"TestArea{number // 20}::test_case_{number}" for number in (24, 54)}
    assert {it.partition("::")[2] for it in base.only if it.startswith("test/test_before.py")} == moved
    assert {it.partition("::")[2] for it in set(head.only) - set(base.only)} == moved


def test_what_one_report_had_run_on_a_release_is_the_base_of_another(store: Store) -> None:
    base_id, head_id = execute(store, keep(store, upgrade_report(60)))
    again = execute(store, keep(store, dataclasses.replace(upgrade_report(60), notes=("made anew",))))
    assert again == (base_id, head_id)
    later = upgrade_report(60, head="v2.15.0")
    origin = Origin(later.origin.repository, BASE_COMMIT, "c" * 40)
    shared, other = execute(store, keep(store, dataclasses.replace(later, origin=origin)))
    assert (shared, other == head_id) == (base_id, False)


def test_a_run_that_was_called_off_is_opened_anew(store: Store) -> None:
    upgrade = keep(store, upgrade_report(60))
    base_id, head_id = execute(store, upgrade)
    with store.writing() as session:
        cancel_run(session, head_id, NOW, "by hand")
    assert execute(store, upgrade) == (base_id, head_id + 1)


def test_what_differs_is_told_once_both_runs_have_ended(store: Store) -> None:
    """A test whose body changed asks for something else; one whose code changed is broken."""
    upgrade = keep(store, upgrade_report(60))
    asked = ExecutionAsked(duties=(DutyWord.MUST, DutyWord.SHOULD))
    _, head_id = execute(store, upgrade, asked)
    settle_upgrades(store)
    assert seen(store, upgrade).outcomes is None
    body, code = (f"test/test_area_0.py::TestArea0::test_case_{number}" for number in (0, 12))
    run_due(Story(store, now=NOW), {head_id: frozenset({body, code})})
    settle_upgrades(store)
    view = seen(store, upgrade)
    assert view.head.conclusion is Conclusion.NEUTRAL, "it is about no change"
    assert view.head.headline == "On torch 2.14: 8/10 tests ok, 2 regressions."
    found = view.outcomes
    assert found is not None
    assert [(it.id, it.kind) for it in found.outcomes] == [
        (variant(code), OutcomeKind.BROKEN),
        (variant(body), OutcomeKind.MEANING),
    ]
    assert (found.outcomes[0].before, found.outcomes[0].after) == ("passed", "failed")
    assert found.outcomes[0].detail == "1 != 2"
    assert (found.same, found.only_before, found.only_after) == (8, 0, 0)
    with store.reading() as session:
        taken = kept_report(existing_upgrade(session, upgrade, with_text=True)).outcomes
    assert taken == outcome_difference(found), "what is taken along has it too"


def test_a_release_without_results_says_why(store: Store) -> None:
    upgrade = keep(store, upgrade_report(60))
    _, head_id = execute(store, upgrade)
    with store.writing() as session:
        cancel_run(session, head_id, NOW, "An operator cancelled it.")
    run_due(Story(store, now=NOW), {})
    settle_upgrades(store)
    found = seen(store, upgrade).outcomes
    assert found is not None
    assert found.notes == (f"Run {head_id} was cancelled: An operator cancelled it.",)
    assert (found.only_before, found.only_after) == (6, 0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"origin": Origin()}, "no_commits"),
        ({"origin": Origin("https://github.com/other/torch", BASE_COMMIT, HEAD_COMMIT)}, "other_repository"),
        ({"base": "main"}, "no_release"),
        ({"findings": ()}, "nothing_to_run"),
    ],
)
def test_what_cannot_be_run_is_refused(store: Store, change: dict[str, object], code: str) -> None:
    upgrade = keep(store, dataclasses.replace(upgrade_report(60), **change))  # type: ignore[arg-type]  # by name
    with pytest.raises(ConflictError) as refused:
        execute(store, upgrade)
    assert refused.value.code == code
    assert refused.value.hint
    with pytest.raises(NotFoundError, match="were not run"):
        seen(store, upgrade)


def test_a_release_is_read_off_a_name_and_a_base_test_taken_apart() -> None:
    assert [
        release_in(name) for name in ("v2.14.1-rc1", "2.13.0", "wheel:2.13.0", "main", "1234567", "2.9.0a0+git1")
    ] == [*("2.14", "2.13", "2.13", "", "", "2.9")]
    assert base_test("test/a.py::TestA::test_x") == BaseTest("test/a.py", "TestA", "test_x")
    assert base_test("test/a.py::test_x") == BaseTest("test/a.py", "", "test_x")
