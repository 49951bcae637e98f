"""Cutting a plan into shards that take about as long as each other, by how long its tests took before. Pure.

A file is kept whole where it fits, because every shard that has a part of it collects it and pays for a warm process.
What is left is a matter of bins: the longest piece first, each into the emptiest shard that has room (LPT, at most a
third longer than the best: R. L. Graham, "Bounds on Multiprocessing Timing Anomalies", 1969).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

#: What a file costs a shard beside its tests: its collection and a warm process. Seconds, roughly.
FILE_S = 5.0
#: What a process of its own costs a test.
ISOLATED_S = 1.0
#: Where nothing was ever recorded all tests count alike.
_ASSUMED_S = 1.0

Durations = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class PackedTest:
    """A test to be put into a shard. `base` names the base test it was generated from, as recorded durations do."""

    id: str
    file: str
    base: str
    isolate: bool = False


@dataclass(frozen=True, slots=True)
class ShardRoom:
    """What a shard may hold: `tests` at most, and about so many seconds."""

    tests: int
    seconds: float


@dataclass(frozen=True, slots=True)
class PackedShard:
    """The tests of a shard, file by file in the plan's order, and the seconds they may take."""

    ids: tuple[str, ...]
    expected_s: float


@dataclass(slots=True)
class _Piece:
    tests: list[PackedTest]
    seconds: float


@dataclass(slots=True)
class _Bin:
    pieces: list[_Piece] = field(default_factory=list)
    seconds: float = 0.0
    count: int = 0

    def put(self, piece: _Piece) -> None:
        self.pieces.append(piece)
        self.seconds += piece.seconds
        self.count += len(piece.tests)


def pack(tests: Sequence[PackedTest], durations: Durations, room: ShardRoom) -> tuple[PackedShard, ...]:
    """Every test in exactly one shard, the shards that take longest first. `durations` are the recorded seconds of base
    tests over all their variants, by file and base test."""
    seconds = expected_seconds(tests, durations)
    pieces = [piece for file in _by_file(tests) for piece in _pieces(file, seconds, room)]
    total = sum(piece.seconds for piece in pieces)
    bins = [_Bin() for _ in range(max(math.ceil(total / room.seconds), math.ceil(len(tests) / room.tests)))]
    for piece in sorted(pieces, key=lambda one: -one.seconds):
        fitting = [one for one in bins if one.count + len(piece.tests) <= room.tests]
        if not fitting:
            bins.append(_Bin())
            fitting = bins[-1:]
        min(fitting, key=lambda one: one.seconds).put(piece)
    places = {test.id: place for place, test in enumerate(tests)}
    packed = [_packed(one, places) for one in bins if one.pieces]
    return tuple(sorted(packed, key=lambda shard: -shard.expected_s))


def expected_seconds(tests: Sequence[PackedTest], durations: Durations) -> dict[str, float]:
    """The seconds of each test: its part of what its base test took, else the median of its file, else of all."""
    variants = Counter((test.file, test.base) for test in tests)
    known = {
        key: durations[key[0]][key[1]] / count for key, count in variants.items() if key[1] in durations.get(key[0], {})
    }
    by_file: dict[str, list[float]] = {}
    for (file, _), took in known.items():
        by_file.setdefault(file, []).append(took)
    usual = {file: median(took) for file, took in by_file.items()}
    anywhere = median(known.values()) if known else _ASSUMED_S
    return {
        test.id: known.get((test.file, test.base), usual.get(test.file, anywhere)) + ISOLATED_S * test.isolate
        for test in tests
    }


def _by_file(tests: Iterable[PackedTest]) -> Iterable[list[PackedTest]]:
    files: dict[str, list[PackedTest]] = {}
    for test in tests:
        files.setdefault(test.file, []).append(test)
    return files.values()


def _pieces(tests: list[PackedTest], seconds: Mapping[str, float], room: ShardRoom) -> Iterable[_Piece]:
    """The file whole, or in as few parts of about the same length as fit."""
    total = sum(seconds[test.id] for test in tests)
    per_shard = max(room.seconds - FILE_S, room.seconds / 2)
    parts = max(math.ceil(total / per_shard), math.ceil(len(tests) / room.tests))
    piece, longest = _Piece([], FILE_S), FILE_S + total / parts
    for test in tests:
        full = len(piece.tests) == room.tests or piece.seconds + seconds[test.id] / 2 > longest
        if piece.tests and full:
            yield piece
            piece = _Piece([], FILE_S)
        piece.tests.append(test)
        piece.seconds += seconds[test.id]
    yield piece


def _packed(one: _Bin, places: Mapping[str, int]) -> PackedShard:
    ids = [test.id for piece in one.pieces for test in piece.tests]
    return PackedShard(tuple(sorted(ids, key=places.__getitem__)), round(one.seconds, 3))
