"""Which run a free worker serves next, and why the others wait: the policy, without clock, database or chance.

`order` puts every run that has a due shard into one order; a worker takes the next shard of the first. Nothing is ever
left out of the order, so no worker idles while anything is due, and nothing that waits is lost.

1. *Class.* merged > pull request > nightly > audit. What a person asks for by hand counts one class higher. For each
   `ageing_s` that a run has waited it counts one class higher as well, up to a pull request, and after `HELD_AGES`
   times `ageing_s` up to a merged change: low classes wait, but not for ever, and a long queue does not turn the
   classes round.
2. *Share.* Among runs of one level the group (a pull request, a ref, the audits) goes first that has the fewest
   leases, then the one that used the least device time lately, in whole minutes, then the oldest run. Selections
   have no rule of their own: a new group has no lease and has used no time, so it is selected before old ones go on,
   while a flood of new groups cannot keep those from being tested once they are older and have rested.
3. *Limit.* A group that has its part of the workers (`group_share`) goes behind others that people wait for. Nightlies
   and audits together have `background_share` at most while people wait.
4. *Back-pressure.* The queue is deep when the work that people wait for is more than `deep_s` seconds for each worker.
   Then nightlies and audits are held, last of all, until they have waited for `HELD_AGES` times `ageing_s`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from relay.queue_views import Wait, WorkClass

#: After so many times `ageing_s` a held run competes with the others, and any run with merged changes.
HELD_AGES = 4
#: Differences of device time below this say nothing about fairness; then the older run goes first.
_SAME_USE_S = 60.0


_LEVELS: Mapping[WorkClass, int] = {work_class: level for level, work_class in enumerate(WorkClass)}
#: Levels up to this one are waited for by people.
_PEOPLE = _LEVELS[WorkClass.PULL_REQUEST]


@dataclass(frozen=True, slots=True)
class Policy:
    """The settings. Seconds; shares are of the present workers, and a share is never less than one worker. `deep_s` 0:
    the queue is never deep."""

    ageing_s: float = 3_600.0
    group_share: float = 0.5
    background_share: float = 0.25
    deep_s: float = 1_800.0


@dataclass(frozen=True, slots=True)
class DueRun:
    """A run with due shards. `age_s`: how long ago it was asked for. `expected_s`: device seconds its due shards may
    take. `asked`: a person asked for it by hand."""

    run_id: int
    work_class: WorkClass
    group: str
    age_s: float
    shards: int = 1
    expected_s: float = 0.0
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """One device at one moment. `slots`: shards that the present workers do at once. `leases`: how many are at work, by
    class and group. `used_s`: device seconds of the last hour, by group; a group that is absent used none."""

    due: tuple[DueRun, ...]
    slots: int
    leases: Mapping[tuple[WorkClass, str], int] = field(default_factory=dict)
    used_s: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Placed:
    """A run in the order. `place` counts from 1, `shards_before` the due shards of the runs before it. `leases` and
    `limit` are its group's, or for `BACKGROUND_LIMIT` those of all nightlies and audits."""

    run: DueRun
    place: int
    wait: Wait
    shards_before: int
    leases: int
    limit: int


@dataclass(frozen=True, slots=True)
class _Shares:
    """Who has how many of the workers, and may have."""

    groups: Mapping[str, int]
    background: int
    group_limit: int
    background_limit: int


@dataclass(frozen=True, slots=True)
class _Rank:
    """What a run is placed by; the lower goes first."""

    run: DueRun
    level: int
    leases: int
    use: int
    held: bool
    limit: Wait | None

    @property
    def key(self) -> tuple[bool, bool, bool, int, int, int, float, int]:
        share = (self.leases, self.use, -self.run.age_s, self.run.run_id)
        return (self.held, self.level > _PEOPLE, self.limit is not None, self.level, *share)


def order(queue: Queue, policy: Policy) -> tuple[Placed, ...]:
    """All due runs, the next one first."""
    shares, deep = _shares(queue, policy), is_deep(queue, policy)
    ranked = (_rank(run, shares, queue.used_s, policy, deep=deep) for run in queue.due)
    ranks = sorted(ranked, key=lambda rank: rank.key)
    before = accumulate((rank.run.shards for rank in ranks), initial=0)
    placed = enumerate(zip(ranks, before, strict=False), start=1)
    return tuple(_placed(rank, place, ranks[0], shares, shards_before) for place, (rank, shards_before) in placed)


def level_of(run: DueRun, policy: Policy) -> int:
    """The class a run counts as by now, 0 for the most urgent."""
    above = run.work_class is WorkClass.MERGED or run.asked or run.age_s >= HELD_AGES * policy.ageing_s
    aged = _LEVELS[run.work_class] - run.asked - int(run.age_s // policy.ageing_s)
    return max(0 if above else _PEOPLE, aged)


def people_wait_s(queue: Queue) -> float:
    """Device seconds of due work that people wait for, for each worker."""
    waited_for = (run.expected_s for run in queue.due if not _may_be_held(run))
    return sum(waited_for) / max(1, queue.slots)


def is_deep(queue: Queue, policy: Policy) -> bool:
    """Whether there is back-pressure."""
    return policy.deep_s > 0 and people_wait_s(queue) > policy.deep_s


def is_background(work_class: WorkClass) -> bool:
    """Whether nobody waits for such a run."""
    return _LEVELS[work_class] > _PEOPLE


def _may_be_held(run: DueRun) -> bool:
    return is_background(run.work_class) and not run.asked


def _shares(queue: Queue, policy: Policy) -> _Shares:
    groups: Counter[str] = Counter()
    background = 0
    for (work_class, group), count in queue.leases.items():
        groups[group] += count
        background += count if is_background(work_class) else 0
    limits = (max(1, int(share * queue.slots)) for share in (policy.group_share, policy.background_share))
    return _Shares(groups, background, *limits)


def _rank(run: DueRun, shares: _Shares, used_s: Mapping[str, float], policy: Policy, *, deep: bool) -> _Rank:
    return _Rank(
        run=run,
        level=level_of(run, policy),
        leases=shares.groups.get(run.group, 0),
        use=0 if run.asked else int(used_s.get(run.group, 0.0) // _SAME_USE_S),
        held=deep and _may_be_held(run) and run.age_s < HELD_AGES * policy.ageing_s,
        limit=_limit(run, shares),
    )


def _limit(run: DueRun, shares: _Shares) -> Wait | None:
    if is_background(run.work_class) and shares.background >= shares.background_limit:
        return Wait.BACKGROUND_LIMIT
    return Wait.GROUP_LIMIT if shares.groups.get(run.group, 0) >= shares.group_limit else None


def _placed(rank: _Rank, place: int, first: _Rank, shares: _Shares, shards_before: int) -> Placed:
    wait = _wait(rank, first)
    if wait is Wait.BACKGROUND_LIMIT:
        return Placed(rank.run, place, wait, shards_before, shares.background, shares.background_limit)
    return Placed(rank.run, place, wait, shards_before, rank.leases, shares.group_limit)


def _wait(rank: _Rank, first: _Rank) -> Wait:
    """The first difference to the run that is served next."""
    if rank is first:
        return Wait.NEXT
    if rank.held:
        return Wait.HELD
    if rank.limit and not first.limit:
        return rank.limit
    if rank.level > first.level:
        return Wait.CLASS
    if rank.leases > first.leases:
        return Wait.LEASES
    return Wait.USE if rank.use > first.use else Wait.AGE
