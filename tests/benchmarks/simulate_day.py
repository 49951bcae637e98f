"""A day of changes: when each arrives, what it is for, and how long its shards keep a worker.

Owns chance, by a seed. Shards are those the product cuts (`workers.shards.packing`); which waits for which is
`simulate_queue`'s.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relay.queue_views import WorkClass
from relay.settings import RelaySettings
from tests.benchmarks.simulate_figures import Figures, PlanFigures
from workers.shards.packing import PackedTest, ShardRoom, pack
from workers.shards.test_shard import ALONE_LIMIT, ALONE_SECONDS

DAY_S, HOUR_S = 86_400.0, 3_600.0
_DEFAULTS = RelaySettings.model_fields
_ROOM = ShardRoom(_DEFAULTS["shard_size"].default, _DEFAULTS["shard_seconds"].default)


@dataclass(frozen=True, slots=True)
class Job:
    """One run: seconds that its shards keep a worker, the selection's first. `checkout_s` comes on top for the first
    shard of the run on each worker. `at` is seconds from the start of the day."""

    at: float
    work_class: WorkClass
    group: str
    select_s: float
    shards: tuple[float, ...]
    checkout_s: float = 0.0

    @property
    def seconds(self) -> float:
        return self.select_s + sum(self.shards)


@dataclass(frozen=True, slots=True)
class Wish:
    """`per_day` changes by the hours of real ones, a nightly and an audit, and `burst` changes that are merged within
    the busiest hour on top of them."""

    per_day: float = 1_500
    burst: int = 0
    seed: int = 1


class Day:
    """Makes the jobs of days. The shards of each plan are cut once."""

    def __init__(self, figures: Figures) -> None:
        self._figures = figures
        self._cut = {id(plan): _shards(plan) for plan in (*figures.changes, figures.everything)}
        # The day starts in its quietest hour, with nothing left of the day before.
        self.first_hour = min(range(24), key=figures.hours.__getitem__)
        self.busiest_hour = max(range(24), key=figures.hours.__getitem__)

    def jobs(self, wish: Wish) -> list[Job]:
        """In the order they arrive. The same wish gives the same jobs."""
        chance = random.Random(wish.seed)  # noqa: S311 - a simulation
        jobs = [*self._merged(chance, wish), *self._pushes(chance, wish), *self._background(chance)]
        return sorted(jobs, key=lambda job: job.at)

    def _merged(self, chance: random.Random, wish: Wish) -> Iterator[Job]:
        count = round(min(self._figures.merged_per_day, wish.per_day))
        busiest = self._second_of(self.busiest_hour)
        times = [self._some_time(chance) for _ in range(count)]
        times += [busiest + chance.random() * HOUR_S for _ in range(wish.burst)]
        return (self._change(chance, at, WorkClass.MERGED, "main") for at in times)

    def _pushes(self, chance: random.Random, wish: Wish) -> Iterator[Job]:
        """Pull requests, each pushed to a few times: the first push by the hours, others some time after."""
        left, number = wish.per_day - self._figures.merged_per_day, 0
        while left > 0:
            number, at = number + 1, self._some_time(chance)
            for _ in range(min(_geometric(chance, self._figures.pushes), round(left) or 1)):
                yield self._change(chance, at % DAY_S, WorkClass.PULL_REQUEST, f"pr {number}")
                at += chance.expovariate(1 / self._figures.push_gap_s)
                left -= 1

    def _background(self, chance: random.Random) -> Iterator[Job]:
        for work_class in (WorkClass.NIGHTLY, WorkClass.AUDIT):
            yield self._job(chance, 0.0, work_class, work_class.value, self._figures.everything)

    def _change(self, chance: random.Random, at: float, work_class: WorkClass, group: str) -> Job:
        return self._job(chance, at, work_class, group, chance.choice(self._figures.changes))

    def _job(self, chance: random.Random, at: float, work_class: WorkClass, group: str, plan: PlanFigures) -> Job:
        figures = self._figures
        imports = chance.choice(figures.import_s)
        collecting = imports + sum(figures.beside_s[file] for file in plan.files) if plan.files else 0.0
        shards = [imports + figures.relay_s + self._shard_s(files) for files in self._cut[id(plan)]]
        if shards and chance.random() < figures.broken:
            alone = min(ALONE_LIMIT * figures.beside_s[chance.choice(sorted(plan.files))], ALONE_SECONDS)
            shards[0] += imports + 2 * alone  # tried again on head, then on base with a warm process of its own
        select_s = figures.relay_s + plan.select_s + collecting
        return Job(at, work_class, group, select_s, tuple(shards), figures.fetch_s + chance.choice(figures.checkout_s))

    def _shard_s(self, files: Sequence[tuple[str, float]]) -> float:
        return sum(self._figures.beside_s[file] + seconds for file, seconds in files)

    def _some_time(self, chance: random.Random) -> float:
        (hour,) = chance.choices(range(24), weights=self._figures.hours)
        return self._second_of(hour) + chance.random() * HOUR_S

    def _second_of(self, hour: int) -> float:
        return ((hour - self.first_hour) % 24) * HOUR_S


def _geometric(chance: random.Random, mean: float) -> int:
    count = 1
    while chance.random() > 1 / mean:
        count += 1
    return count


def _shards(plan: PlanFigures) -> tuple[tuple[tuple[str, float], ...], ...]:
    """The files of each shard, with the seconds of their tests in it."""
    tests = [PackedTest(f"{file}::{n}", file, file) for file, (count, _) in plan.files.items() for n in range(count)]
    durations = {file: {file: seconds} for file, (_, seconds) in plan.files.items()}
    each = {file: seconds / count for file, (count, seconds) in plan.files.items()}
    counted = [Counter(test.partition("::")[0] for test in shard.ids) for shard in pack(tests, durations, _ROOM)]
    return tuple(tuple((file, count * each[file]) for file, count in shard.items()) for shard in counted)
