"""A change is judged by its newest commit, and what was run again counts once, without making a flaky test fine."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sqlalchemy import event

from relay.change_views import BaseComparison, ChangeGroup
from relay.contract import Attempt, Expected, Observation, TestResult, Tree
from relay.runs.base_comparison import compare_with_base
from relay.runs.changes import (
    Answer,
    Change,
    answer_of,
    change_of_commit,
    change_of_pull,
    count_groups,
    current,
    glimpse_groups,
    page_of_group,
)
from relay.runs.creation import cancel_run, rerun
from relay.store.engine import Store
from tests.relay.runs.test_histories import pushed
from tests.relay.stories import (
    DEVICE,
    REPO,
    Story,
    attempt,
    ended,
    flaked,
    known,
    passed,
    planned,
    regressed,
    report_of,
)

FILE = "test/test_demo_ops.py"
TESTS = [f"{FILE}::TestDemoOpsSPYRE::test_op{number}__float32" for number in range(10)]
OLD, HEAD = "1" * 40, "9" * 40


def fixed(test: str) -> TestResult:
    failed = attempt(Observation.FAILED, tree=Tree.BASE).model_copy(update={"reused": True})
    return TestResult(id=test, attempts=(attempt(Observation.PASSED), failed))


def told(story: Story) -> int:
    """A run with a test of every group: two new, one flaky, two fixed, two known, three fine."""
    run = story.open(pr=7, head=HEAD)
    expected = {TESTS[4]: Expected.XFAIL, TESTS[6]: Expected.XFAIL}
    story.select(
        report_of([[planned(test, expected=expected.get(test, Expected.MANDATORY_SUCCESS)) for test in TESTS]])
    )
    story.run_all(
        {
            TESTS[0]: regressed(TESTS[0], "boom"),
            TESTS[1]: ended(TESTS[1], Observation.CRASHED, "crash"),
            TESTS[2]: flaked(TESTS[2], "once"),
            TESTS[3]: fixed(TESTS[3]),
            TESTS[5]: known(TESTS[5], "as before"),
            TESTS[6]: ended(TESTS[6], Observation.CRASHED, "expected to be no good"),
        }
    )
    return run


def again(story: Story, run: int, *, failed_only: bool = True) -> int:
    with story.store.writing() as session:
        return rerun(session, run, story.tick(), failed_only=failed_only).id


def repeat(story: Story, run: int, results: Mapping[str, TestResult], *tests: str) -> int:
    """The failed tests of a run again, with these results."""
    new = again(story, run)
    story.select(report_of([[planned(test) for test in tests]]))
    story.run_all(dict(results))
    return new


def change(store: Store, number: int = 7, *, repo: str = "", usually: str = "") -> Change:
    with store.reading() as session:
        found = change_of_pull(session, number, DEVICE, repo=repo, usually=usually)
    assert found is not None
    return found


def answer(store: Store) -> Answer:
    return answer_of(change(store).heads[0])


def groups(store: Store) -> dict[str, list[str]]:
    """The tests of each group that has some, checked against the counts."""
    with store.reading() as session:
        standing = answer(store)
        counts = count_groups(session, standing)
        found = {name: page_of_group(session, standing, name, limit=100)[0] for name in ChangeGroup}
        glimpse = glimpse_groups(session, standing, limit=100)
    assert {name: len(tests) for name, tests in found.items()} == dict(counts)
    assert all(glimpse[name] == found[name] for name in glimpse)
    return {name.value: [test.id for test in tests] for name, tests in found.items() if tests}


def test_every_test_is_in_the_group_of_what_it_says_about_the_change(store: Store) -> None:
    """What is expected to fail is known, however it fails; what passes against that is fixed."""
    told(Story(store))
    assert groups(store) == {
        "new": TESTS[:2],
        "flaky": [TESTS[2]],
        "fixed": TESTS[3:5],
        "known": TESTS[5:7],
        "fine": TESTS[7:],
    }


def test_tests_that_are_not_reported_wait(store: Store) -> None:
    story = Story(store)
    story.open(pr=7)
    story.select(report_of([[planned(test) for test in TESTS[:2]]]))
    shard, lease, _ = story.lease()
    story.report(shard, lease, [passed(TESTS[0])])
    assert groups(store) == {"fine": [TESTS[0]], "waiting": [TESTS[1]]}


def test_a_strict_expectation_that_is_not_met_is_new(store: Store) -> None:
    story = Story(store)
    story.open(pr=7)
    story.select(report_of([[planned(TESTS[0], expected=Expected.XFAIL_STRICT)]]))
    story.run_all({})
    assert groups(store) == {"new": [TESTS[0]]}


def test_what_breaks_and_is_fine_when_it_is_run_again_is_flaky(store: Store) -> None:
    """It stays new when it breaks again; what did not run again stays what it was."""
    story = Story(store)
    run = told(story)
    repeat(story, run, {TESTS[0]: regressed(TESTS[0], "still")}, *TESTS[:3])
    assert groups(store) == {
        "new": [TESTS[0]],
        "flaky": TESTS[1:3],
        "fixed": TESTS[3:5],
        "known": TESTS[5:7],
        "fine": TESTS[7:],
    }
    with store.reading() as session:
        (shown,), _ = page_of_group(session, answer(store), ChangeGroup.NEW, limit=1)
    assert shown.detail == "still"


def test_a_repeat_counts_when_it_is_reported_and_not_before(store: Store) -> None:
    story = Story(store)
    run = told(story)
    new = again(story, run)
    before = groups(store)
    story.select(report_of([[planned(test) for test in TESTS[:3]]]))
    assert groups(store) == before
    assert [other.id for other in answer(store).repeats] == [new]
    assert answer(store).run.id == run


def test_the_newest_whole_run_answers_unless_it_was_called_off(store: Store) -> None:
    story = Story(store)
    run = told(story)
    newer = again(story, run, failed_only=False)
    assert answer(store).run.id == newer
    with store.writing() as session:
        cancel_run(session, newer, story.tick(), "not wanted")
    assert answer(store).run.id == run


def test_a_new_commit_leaves_the_old_ones_behind(store: Store) -> None:
    story = Story(store)
    told(story)
    newer = story.open(pr=7, head="a" * 40)
    found = change(store)
    assert [head.sha for head in found.heads] == ["a" * 40, HEAD]
    assert answer(store).run.id == newer
    assert not found.cut


def test_a_number_is_that_of_the_usual_repository_or_of_the_one_heard_of_last(store: Store) -> None:
    Story(store).open(pr=7)
    assert (change(store).repo, change(store).others) == (REPO, ())
    assert change(store, usually="pytorch/other").repo == REPO
    assert change(store, repo=REPO.upper()).repo == REPO
    with store.reading() as session:
        assert change_of_pull(session, 7, DEVICE, repo="pytorch/other") is None
        assert change_of_pull(session, 8, DEVICE) is None
        assert change_of_pull(session, 7, "other") is None


def test_a_commit_is_known_by_the_begin_of_its_name(store: Store) -> None:
    story = Story(store)
    pushed(story, "c", passed("test/test_nn.py::TestNNSPYRE::test_linear__float32"))
    with store.reading() as session:
        for name in ("c" * 40, "c" * 7):
            found = change_of_commit(session, name, DEVICE)
            assert found is not None
            assert [head.sha for head in found.heads] == ["c" * 40]
        assert change_of_commit(session, "%cccccc", DEVICE) is None
        assert change_of_commit(session, "d" * 40, DEVICE) is None


def test_groups_are_paged_by_key(store: Store) -> None:
    told(Story(store))
    with store.reading() as session:
        first, following = page_of_group(session, answer(store), ChangeGroup.FINE, limit=2)
        assert following is not None
        rest, end = page_of_group(session, answer(store), ChangeGroup.FINE, limit=2, after=following)
        glimpse = glimpse_groups(session, answer(store), limit=1)
    assert [test.id for test in (*first, *rest)] == TESTS[7:]
    assert end is None
    assert [test.id for test in glimpse[ChangeGroup.NEW]] == [TESTS[0]]


def unsure(test: str) -> TestResult:
    base = [
        attempt(seen, tree=Tree.BASE, number=number)
        for number, seen in ((1, Observation.FAILED), (2, Observation.PASSED))
    ]
    tries: list[Attempt] = [attempt(Observation.FAILED), *base]
    return TestResult(id=test, attempts=tuple(tries))


def test_base_is_compared_test_by_test(store: Store) -> None:
    """One broken, one fixed and known from an earlier run, one as before; a repeat replaces what it repeats."""
    story = Story(store)
    run = told(story)
    with store.reading() as session:
        compared = compare_with_base(session, current(answer(store)))
    assert compared == BaseComparison(compared=3, broken=1, fixed=1, failing=1, reused=1)
    repeat(story, run, {TESTS[0]: unsure(TESTS[0])}, *TESTS[:3])
    with store.reading() as session:
        compared = compare_with_base(session, current(answer(store)))
    assert compared == BaseComparison(compared=3, unsure=1, fixed=1, failing=1, reused=1)


@pytest.mark.parametrize("repeated", [False, True])
def test_more_tests_take_no_more_queries(store: Store, repeated: bool) -> None:
    story = Story(store)
    counts = []
    for size in (1, 40):
        names = [f"{FILE}::TestDemoOpsSPYRE::test_many{number:03}__float32" for number in range(size)]
        run = story.open(pr=7)
        story.select(report_of([[planned(name) for name in names]]))
        story.run_all({name: regressed(name, "boom") for name in names})
        if repeated:
            repeat(story, run, {}, *names)
        seen: list[str] = []

        def note(_c: object, _u: object, statement: str, *_: object, seen: list[str] = seen) -> None:
            seen.append(statement)

        standing = answer(store)
        event.listen(store.engine, "before_cursor_execute", note)
        with store.reading() as session:
            count_groups(session, standing)
            glimpse_groups(session, standing, limit=50)
            compare_with_base(session, current(standing))
        event.remove(store.engine, "before_cursor_execute", note)
        counts.append(len(seen))
    assert counts[0] == counts[1]
