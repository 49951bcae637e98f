"""The order in which due runs are served: its invariants by generated queues, its rules one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from hypothesis import given, settings
from hypothesis import strategies as st

from relay.queue_views import Wait, WorkClass
from relay.runs.scheduling import (
    HELD_AGES,
    DueRun,
    Placed,
    Policy,
    Queue,
    is_background,
    is_deep,
    level_of,
    order,
)

POLICY = Policy(ageing_s=100.0, group_share=0.5, background_share=0.25, deep_s=50.0)
GROUPS = st.sampled_from(["pr:1", "pr:2", "pr:3", "ref:main", "audit"])
DUE = st.builds(
    DueRun,
    run_id=st.integers(1, 10_000),
    work_class=st.sampled_from(WorkClass),
    group=GROUPS,
    age_s=st.floats(0, 1_000),
    shards=st.integers(1, 50),
    expected_s=st.floats(0, 1_000),
    asked=st.booleans(),
)
QUEUES = st.builds(
    Queue,
    due=st.lists(DUE, max_size=12, unique_by=lambda run: run.run_id).map(tuple),
    slots=st.integers(0, 16),
    leases=st.dictionaries(st.tuples(st.sampled_from(WorkClass), GROUPS), st.integers(1, 8), max_size=4),
    used_s=st.dictionaries(GROUPS, st.floats(0, 4_000), max_size=4),
)


def pull(number: int, *, age_s: float = 0.0, expected_s: float = 0.0, asked: bool = False) -> DueRun:
    return DueRun(number, WorkClass.PULL_REQUEST, f"pr:{number}", age_s=age_s, expected_s=expected_s, asked=asked)


def ids(placed: Sequence[Placed]) -> list[int]:
    return [each.run.run_id for each in placed]


def waits(placed: Sequence[Placed]) -> list[Wait]:
    return [each.wait for each in placed]


@given(QUEUES)
def test_every_due_run_has_one_place_so_no_worker_idles_and_nothing_is_dropped(queue: Queue) -> None:
    placed = order(queue, POLICY)
    assert sorted(ids(placed)) == sorted(run.run_id for run in queue.due)
    assert [each.place for each in placed] == list(range(1, len(queue.due) + 1))
    assert waits(placed)[:1] == [Wait.NEXT] * bool(placed)
    assert Wait.NEXT not in waits(placed)[1:]


@given(QUEUES)
def test_the_order_of_a_queue_does_not_depend_on_how_it_was_read(queue: Queue) -> None:
    turned = replace(queue, due=tuple(reversed(queue.due)))
    assert order(turned, POLICY) == order(queue, POLICY)


@given(QUEUES)
def test_waiting_longer_never_puts_a_run_further_back(queue: Queue) -> None:
    for placed in order(queue, POLICY):
        older = replace(placed.run, age_s=placed.run.age_s + 70.0)
        due = tuple(older if run is placed.run else run for run in queue.due)
        (now,) = [it.place for it in order(replace(queue, due=due), POLICY) if it.run is older]
        assert now <= placed.place


@given(QUEUES)
def test_the_next_run_has_as_few_leases_as_any_other_of_its_level(queue: Queue) -> None:
    """The fairness bound: while others of its level wait, a group is at most one lease ahead of them."""
    placed = order(queue, POLICY)
    levels = {level_of(it.run, POLICY) for it in placed[:1]}
    peers = [it for it in placed if it.wait in {Wait.LEASES, Wait.USE, Wait.AGE}]
    assert all(placed[0].leases <= it.leases for it in peers if level_of(it.run, POLICY) in levels)


@given(QUEUES, st.floats(0, HELD_AGES * POLICY.ageing_s, exclude_max=True))
def test_a_class_keeps_its_lead_in_a_queue_of_hours(queue: Queue, waited_s: float) -> None:
    """Of two runs that came at one time the merged change is served before the pull request, whatever their groups
    used: by device time alone the branch, one group for all that is merged, would always come last."""
    merged = DueRun(20_001, WorkClass.MERGED, "ref:lead", waited_s)
    other = DueRun(20_002, WorkClass.PULL_REQUEST, "pr:lead", waited_s)
    placed = order(replace(queue, due=(*queue.due, merged, other), used_s={"ref:lead": 9_999.0}), POLICY)
    places = {it.run.run_id: it.place for it in placed}
    assert places[20_001] < places[20_002]


@settings(max_examples=20)
@given(
    st.sampled_from(WorkClass), st.integers(0, 4), st.integers(1, 3), st.floats(0, 600), st.sampled_from([30.0, 90.0])
)
def test_no_run_starves_however_many_others_come(
    work_class: WorkClass, older: int, workers: int, used_s: float, shard_s: float
) -> None:
    """A flood of new merged changes, each in a group of its own, on workers that are never idle: a run of any class
    is served once it has aged and the device time of its group is an hour old."""
    served = simulate_flood(DueRun(1, work_class, "target", 0.0), older, workers, used_s, shard_s)
    assert served <= HELD_AGES * POLICY.ageing_s + 3_600 + (older + 1) * 120


def simulate_flood(target: DueRun, older: int, workers: int, used_s: float, shard_s: float) -> float:
    """When `target` is served, in seconds. Each worker does one shard of `shard_s` after the other, and each time two
    new runs have come; `older` runs have endless shards."""
    waiting: dict[int, tuple[DueRun, float]] = {1: (target, 0.0)}
    waiting |= {number: (pull(number), -1.0) for number in range(2, 2 + older)}
    used: list[tuple[float, str, float]] = [(0.0, target.group, used_s)]
    now, number = 0.0, 100
    while True:
        for _ in range(2 * workers):
            number += 1
            waiting[number] = (DueRun(number, WorkClass.MERGED, f"ref:{number}", 0.0, expected_s=shard_s), now)
        # Of the flood only the oldest can be the next: they differ in nothing else.
        oldest = islice(waiting, older + 1 + workers)
        due = tuple(replace(waiting[one][0], age_s=now - waiting[one][1]) for one in oldest)
        leases: Counter[tuple[WorkClass, str]] = Counter()
        for _ in range(workers):
            lately = Counter[str]()
            for at, group, seconds in used:
                if at > now - 3_600:
                    lately[group] += int(seconds)
            left = tuple(run for run in due if run.run_id in waiting)
            first = order(Queue(left, workers, leases, lately), POLICY)[0].run
            if first.run_id == 1:
                return now
            leases[first.work_class, first.group] += 1
            used.append((now, first.group, shard_s))
            if first.run_id > 100:
                del waiting[first.run_id]
        now += shard_s
        used = [entry for entry in used if entry[0] > now - 3_600 and entry[1].startswith(("target", "pr"))]


def test_classes_go_one_after_the_other() -> None:
    due = tuple(DueRun(number, work_class, str(number), 5.0) for number, work_class in enumerate(WorkClass, start=1))
    placed = order(Queue(tuple(reversed(due)), 4), POLICY)
    assert ids(placed) == [1, 2, 3, 4]
    assert waits(placed) == [Wait.NEXT, Wait.CLASS, Wait.CLASS, Wait.CLASS]


def test_what_a_person_asks_for_by_hand_counts_one_class_higher_and_its_use_does_not_count() -> None:
    queue = Queue((pull(1, age_s=9.0), pull(2, asked=True)), 4, used_s={"pr:2": 500.0})
    assert ids(order(queue, POLICY)) == [2, 1]


def test_a_group_with_fewer_leases_goes_first_then_one_that_used_less_then_the_oldest() -> None:
    queue = Queue(
        (pull(1, age_s=9.0), pull(2, age_s=8.0), pull(3, age_s=7.0), pull(4, age_s=6.0)),
        slots=8,
        leases={(WorkClass.PULL_REQUEST, "pr:1"): 1},
        used_s={"pr:2": 61.0, "pr:3": 59.0},
    )
    placed = order(queue, POLICY)
    assert ids(placed) == [3, 4, 2, 1]
    assert waits(placed) == [Wait.NEXT, Wait.AGE, Wait.USE, Wait.LEASES]


def test_a_merged_change_that_has_its_part_of_the_workers_lets_pull_requests_by_but_no_audit() -> None:
    merged = DueRun(1, WorkClass.MERGED, "ref:main", 50.0, shards=100)
    audit = DueRun(3, WorkClass.AUDIT, "audit", 60.0)
    queue = Queue((merged, pull(2), audit), slots=4, leases={(WorkClass.MERGED, "ref:main"): 2})
    placed = order(queue, POLICY)
    assert ids(placed) == [2, 1, 3]
    assert (placed[1].wait, placed[1].leases, placed[1].limit) == (Wait.GROUP_LIMIT, 2, 2)
    assert ids(order(replace(queue, due=(merged,)), POLICY)) == [1], "an idle worker is used, limit or not"


def test_aged_audits_have_their_part_of_the_workers_at_most_while_people_wait() -> None:
    aged = DueRun(1, WorkClass.AUDIT, "audit", 390.0)
    queue = Queue((aged, pull(2)), slots=8)
    assert ids(order(queue, POLICY)) == [1, 2]
    full = replace(queue, leases={(WorkClass.NIGHTLY, "nightly"): 1, (WorkClass.AUDIT, "audit"): 1})
    placed = order(full, POLICY)
    assert ids(placed) == [2, 1]
    assert (placed[1].wait, placed[1].leases, placed[1].limit) == (Wait.BACKGROUND_LIMIT, 2, 2)


def test_a_deep_queue_holds_nightlies_and_audits_but_nothing_that_was_asked_for_by_hand() -> None:
    work = pull(1, expected_s=101.0)
    nightly, asked = (DueRun(number, WorkClass.NIGHTLY, str(number), 250.0, asked=number == 3) for number in (2, 3))
    queue = Queue((work, nightly, asked), slots=2)
    assert is_deep(queue, POLICY)
    placed = order(queue, POLICY)
    assert waits([it for it in placed if it.run is nightly]) == [Wait.HELD]
    assert Wait.HELD not in waits([it for it in placed if it.run is not nightly])
    assert placed[-1].run is nightly
    assert not is_deep(queue, replace(POLICY, deep_s=0.0)), "0 switches it off"


def test_the_work_of_audits_alone_is_no_deep_queue() -> None:
    queue = Queue((DueRun(1, WorkClass.AUDIT, "audit", 0.0, expected_s=9_999.0),), slots=1)
    assert is_background(WorkClass.AUDIT)
    assert not is_deep(queue, POLICY)
