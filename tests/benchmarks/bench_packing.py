"""How evenly shards share a plan: `python -m tests.benchmarks.bench_packing`.

Cut by recorded durations against cut by the number of tests, as it was before, over the same drawn plans of files:
the longest shard over the mean one, and how long a plan takes on four workers that take one shard after the other. The
lengths of files are drawn from a log-normal distribution: a few are very long, as upstream's are. What is recorded of a
test is known to a quarter.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from random import Random
from statistics import fmean, median

from workers.shards.packing import FILE_S, PackedTest, ShardRoom, expected_seconds, pack

_PLANS, _FILES, _WORKERS = 40, 40, 4
_ROOM = ShardRoom(tests=200, seconds=300.0)
#: Of the seconds that a test took before, how much it takes now.
_DRIFT = 0.25


def main() -> None:
    """One line for each cut."""
    numbers = Random(7)  # noqa: S311 - draws that can be repeated
    plans = [_plan(numbers) for _ in range(_PLANS)]
    print(f"{_PLANS} plans of {_FILES} files, {_ROOM.tests} tests and about {_ROOM.seconds:.0f} s in a shard; medians")
    for name, cut in (("by number", by_number), ("by duration", by_duration)):
        uneven, ends, counts = [], [], []
        for tests, recorded, real in plans:
            lengths = [_length(shard, real) for shard in cut(tests, recorded)]
            uneven.append(max(lengths) / fmean(lengths))
            ends.append(_end(lengths))
            counts.append(len(lengths))
        told = f"longest/mean {median(uneven):.2f} (worst {max(uneven):.2f})"
        print(f"{name}: {median(counts):.0f} shards, {told}, {median(ends):.0f} s on {_WORKERS} workers")


Plan = tuple[list[PackedTest], dict[str, dict[str, float]], Mapping[str, float]]


def _plan(numbers: Random) -> Plan:
    """The tests of some files, what is recorded of them, and what each will really take."""
    tests: list[PackedTest] = []
    recorded: dict[str, dict[str, float]] = {}
    for number, length in enumerate(numbers.lognormvariate(3.4, 1.5) for _ in range(_FILES)):
        file = f"test/test_{number}.py"
        bases = [f"{file}::T::test_{base}" for base in range(numbers.randint(3, 30))]
        shares = [numbers.paretovariate(1.2) for _ in bases]
        recorded[file] = {base: length * share / sum(shares) for base, share in zip(bases, shares, strict=True)}
        for base in bases:
            tests += [PackedTest(f"{base}_{variant}", file, base) for variant in range(numbers.randint(1, 12))]
    seconds = expected_seconds(tests, recorded)
    real = {test: took * numbers.uniform(1 - _DRIFT, 1 + _DRIFT) for test, took in seconds.items()}
    return tests, recorded, real


def by_duration(tests: Sequence[PackedTest], recorded: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """As it is."""
    return [list(shard.ids) for shard in pack(tests, recorded, _ROOM)]


def by_number(tests: Sequence[PackedTest], recorded: Mapping[str, Mapping[str, float]]) -> list[list[str]]:
    """As it was: a file whole where it fits, in the plan's order, up to so many tests."""
    del recorded
    by_file: dict[str, list[str]] = {}
    for test in tests:
        by_file.setdefault(test.file, []).append(test.id)
    shards: list[list[str]] = []
    for ids in by_file.values():
        if not shards or len(shards[-1]) + len(ids) > _ROOM.tests:
            shards.append([])
        for test_id in ids:
            if len(shards[-1]) == _ROOM.tests:
                shards.append([])
            shards[-1].append(test_id)
    return shards


def _length(shard: Sequence[str], real: Mapping[str, float]) -> float:
    return FILE_S * len({test.partition("::")[0] for test in shard}) + sum(real[test] for test in shard)


def _end(lengths: Sequence[float]) -> float:
    """When the last of the workers is done; each takes the next shard when it is done with one."""
    free = [0.0] * _WORKERS
    for length in lengths:
        heapq.heapreplace(free, free[0] + length)
    return max(free)


if __name__ == "__main__":
    main()
