"""Tests and decisions are listed worst first, by page, with a fixed number of queries."""

from __future__ import annotations

import pytest
from sqlalchemy import event

from relay.contract import FilteredTest, Observation
from relay.errors import NotFoundError
from relay.runs.listings import list_tests, list_waiting_tests, load_considered, page_of_tests
from relay.store.engine import Store
from relay.views import Verdict
from tests.relay.stories import Story, base_of, dropped, ended, flaked, planned, regressed, report_of

TESTS = [f"test/test_demo_ops.py::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(10)]
FILTERED = [
    FilteredTest(
        id=f"{TESTS[number]}_f16", base=base_of(TESTS[number]), rule="dtype_unsupported", provenance="d.yaml:3"
    )
    for number in range(4)
]
LEFT = [dropped(f"test/test_nn.py::TestNN::test_{number}") for number in range(7)]


@pytest.fixture
def story(store: Store) -> Story:
    """A run with ten planned tests: one regression, one flaky, six ok, two waiting."""
    told = Story(store)
    told.open()
    shards = [[planned(test) for test in TESTS[:8]], [planned(test) for test in TESTS[8:]]]
    told.select(report_of(shards, left_out=LEFT, filtered=FILTERED))
    shard, lease, tests = told.lease()
    results = [ended(test, Observation.PASSED) for test in tests[:6]]
    told.report(shard, lease, [*results, flaked(tests[6], "once"), regressed(tests[7], "boom")])
    return told


def test_worst_comes_first_and_waiting_last(story: Story) -> None:
    with story.store.reading() as session:
        page = list_tests(session, 1, limit=100)
    verdicts = [test.verdict for test in page.tests]
    assert verdicts == [Verdict.REGRESSION, Verdict.FLAKY, *[Verdict.OK] * 6, None, None]
    assert page.total == 10
    assert page.tests[0].detail == "boom"
    assert [str(attempt.tree) for attempt in page.tests[0].attempts] == ["head", "head", "base"]


def test_a_verdict_can_be_asked_for_and_paged(story: Story) -> None:
    with story.store.reading() as session:
        first = list_tests(session, 1, verdict=Verdict.OK, limit=4)
        second = list_tests(session, 1, verdict=Verdict.OK, limit=4, offset=4)
        waiting = list_waiting_tests(session, 1, limit=1)
    assert [test.id for test in (*first.tests, *second.tests)] == TESTS[:6]
    assert (first.total, waiting.total, len(waiting.tests)) == (6, 2, 1)


@pytest.mark.parametrize("size", [1, 3, 8, 10])
def test_pages_follow_each_other_by_what_their_tests_are(story: Story, size: int) -> None:
    """Whole and without repeating a test, across the borders of verdicts; the last one says that it is."""
    seen: list[str] = []
    after: tuple[int, ...] | None = None
    with story.store.reading() as session:
        whole = [test.id for test in list_tests(session, 1, limit=100).tests]
        for _ in range(len(whole)):
            page, more = page_of_tests(session, 1, limit=size, after=after)
            seen += [test.id for test in page.tests]
            if None in more:
                break
            after = tuple(part for part in more if part is not None)
    assert seen == whole
    assert more == (None, None)


def test_a_result_that_comes_meanwhile_moves_its_test_and_no_page(story: Story) -> None:
    """What was seen is not seen again; a test that has become worse belongs to an earlier page by now."""
    with story.store.reading() as session:
        first, more = page_of_tests(session, 1, limit=8)
    shard, lease, tests = story.lease()
    story.report(shard, lease, [regressed(tests[0], "late")])
    after = tuple(part for part in more if part is not None)
    with story.store.reading() as session:
        rest, _ = page_of_tests(session, 1, limit=8, after=after)
    assert not {test.id for test in first.tests} & {test.id for test in rest.tests}
    assert [test.id for test in rest.tests] == [tests[1]]


def test_a_longer_page_takes_no_more_queries(story: Story) -> None:
    counts = []
    for limit in (1, 10):
        seen: list[str] = []

        def note(_connection: object, _cursor: object, statement: str, *_: object, into: list[str] = seen) -> None:
            into.append(statement)

        event.listen(story.store.engine, "before_cursor_execute", note)
        with story.store.reading() as session:
            assert len(list_tests(session, 1, limit=limit).tests) == limit
        event.remove(story.store.engine, "before_cursor_execute", note)
        counts.append(len(seen))
    assert counts[0] == counts[1]


def test_decisions_are_split_searched_and_paged(story: Story) -> None:
    with story.store.reading() as session:
        all_of_them = load_considered(session, 1).page(limit=100)
        left = load_considered(session, 1).page(kept=False, limit=3, offset=6)
        found = load_considered(session, 1).page(q="TESTNN::TEST_3", limit=100)
        kept = load_considered(session, 1).page(kept=True, q="test_op0", limit=100)
    assert all_of_them.total == 17
    assert (left.total, [decision.test for decision in left.decisions]) == (7, [LEFT[6].test])
    assert [decision.test for decision in found.decisions] == [LEFT[3].test]
    assert [decision.test for decision in kept.decisions] == [base_of(TESTS[0])]
    assert [test.id for test in kept.filtered] == [FILTERED[0].id]


def test_the_chain_of_some_tests_is_found_by_name(story: Story) -> None:
    with story.store.reading() as session:
        found = load_considered(session, 1).about({base_of(TESTS[0]), "unknown"})
        assert load_considered(session, 1).about(set()) == {}
    assert list(found) == [base_of(TESTS[0])]
    assert [reason.stage for reason in found[base_of(TESTS[0])].reasons] == [2, 3, 4]


def test_filtered_tests_are_searched_and_paged(story: Story) -> None:
    with story.store.reading() as session:
        page = load_considered(session, 1).held(limit=3, offset=3)
        found = load_considered(session, 1).held(q="op2", limit=10)
    assert (page.total, [test.id for test in page.tests]) == (4, [FILTERED[3].id])
    assert [test.id for test in found.tests] == [FILTERED[2].id]


def test_before_the_selection_there_is_nothing_to_list(store: Store) -> None:
    Story(store).open()
    with store.reading() as session:
        assert load_considered(session, 1).page(limit=5).total == 0
        assert load_considered(session, 1).held(limit=5).total == 0
        assert list_tests(session, 1, limit=5).total == 0


def test_an_unknown_run_is_not_an_empty_list(store: Store) -> None:
    with store.reading() as session:
        with pytest.raises(NotFoundError):
            list_tests(session, 99, limit=5)
        with pytest.raises(NotFoundError):
            load_considered(session, 99)
