"""Tests that ran by lot: which of them are misses of the selection, and how a run tells."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import Attempt, Observation, TestResult, Tree
from relay.runs.holdout import missed_tests
from relay.runs.listings import list_tests
from relay.runs.queries import events_after
from relay.store.engine import Store
from relay.views import RunDetail
from tests.relay.stories import Story, dropped, ended, flaked, kept, known, planned, reason, regressed, report_of

CHOSEN, DRAWN = "test/test_a.py::TestASPYRE::test_x_spyre", "test/test_b.py::TestBSPYRE::test_y_spyre"
BASE = "test/test_b.py::TestB::test_y_spyre"
BY_LOT = kept(BASE, reason(2, "not tied to the change", "no rule named it"), reason(4, "holdout", "drawn by lot"))


def _story(store: Store, result: TestResult) -> int:
    story = Story(store)
    run_id = story.open()
    tests = [planned(CHOSEN), planned(DRAWN, base=BASE)]
    decisions = [kept(tests[0].base), BY_LOT]
    plan = report_of([tests], decisions=decisions, left_out=[dropped("test/test_c.py::TestC::test_z")])
    cost = {"plan_key": "1a2b3c4d5e6f7a8b", "expected_seconds": 720.0, "seconds_saved": 10_680.0}
    story.select(plan.model_copy(update=cost | {"expected_misses": 0.02}))
    story.run_all({DRAWN: result, CHOSEN: regressed(CHOSEN, "broken")})
    return run_id


def _missed(store: Store, result: TestResult) -> tuple[str, ...]:
    run_id = _story(store, result)
    with store.reading() as session:
        return missed_tests(session, run_id)


def test_a_test_by_lot_that_the_change_broke_is_a_miss(store: Store) -> None:
    """A chosen test that broke is none. The run's history says so, and the test is marked."""
    run_id = _story(store, regressed(DRAWN, "assert 1 == 2"))
    with store.reading() as session:
        assert missed_tests(session, run_id) == (BASE,)
        told = [event for event in events_after(session, run_id, 0, limit=100)[1] if event.kind == "selection.missed"]
        tests = {test.id: (test.by_lot, test.missed) for test in list_tests(session, run_id, limit=10).tests}
    assert [BASE in event.text for event in told] == [True]
    assert tests == {CHOSEN: (False, False), DRAWN: (True, True)}


@pytest.mark.parametrize(
    "result",
    [flaked(DRAWN, "sometimes"), known(DRAWN, "always"), ended(DRAWN, Observation.CRASHED, "base was not asked")],
    ids=["flaky", "known", "alone"],
)
def test_what_is_no_evidence_against_the_change_is_no_miss(store: Store, result: TestResult) -> None:
    assert _missed(store, result) == ()


def test_a_base_that_passes_only_sometimes_is_no_evidence(store: Store) -> None:
    bases = [Observation.PASSED, Observation.CRASHED]
    tries = [Attempt(tree=Tree.BASE, number=n, observation=seen, duration_s=1) for n, seen in enumerate(bases, start=1)]
    head = Attempt(tree=Tree.HEAD, number=1, observation=Observation.FAILED, duration_s=1)
    assert _missed(store, TestResult(id=DRAWN, attempts=(head, *tries))) == ()


def test_the_plan_and_its_miss_are_in_the_api_and_on_the_page(context: RelayContext, client: TestClient) -> None:
    run_id = _story(context.store, regressed(DRAWN, "assert 1 == 2"))
    detail = RunDetail.model_validate_json(client.get(f"/api/v1/runs/{run_id}").text)
    assert detail.plan is not None
    assert (detail.plan.key, detail.plan.expected_seconds, detail.plan.seconds_saved) == (
        *("1a2b3c4d5e6f7a8b", 720.0),
        10_680.0,
    )
    assert detail.missed == (BASE,)
    page = client.get(f"/runs/{run_id}").text
    assert "about 12 min 0 s of tests instead of 3 h 10 min" in page
    assert "expected missed failures 0.02; plan 1a2b3c4d5e6f" in page
    assert "The selection missed 1 test" in page


def test_a_run_without_a_plan_tells_none(context: RelayContext, client: TestClient) -> None:
    run_id = Story(context.store).open()
    detail = RunDetail.model_validate_json(client.get(f"/api/v1/runs/{run_id}").text)
    assert (detail.plan, detail.missed) == (None, ())
