"""What was measured, as a table for people and as JSON: each figure beside its baseline, and whether memory is flat."""

from __future__ import annotations

import statistics
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from tests.benchmarks.bench_webhook_accept import percentile
from tests.benchmarks.load_client import Flood
from tests.benchmarks.load_setups import Served

_SAMPLED_EVERY_S = 0.25
#: Growth over the second half that counts as none: this share of the memory, or twice what single samples scatter
#: around the line, whichever is more.
_FLAT_SHARE = 0.01
_FLAT_SCATTER = 2.0


@dataclass(frozen=True, slots=True)
class Row:
    """One kind of work. `cpu_ms` is the processor time of the relay's processes for a unit of it; `beside` are the
    baselines by name, of which the first is the one to compare with."""

    work: str
    unit: str
    flood: Flood
    cpu_ms: Mapping[str, float]
    beside: Mapping[str, Flood]

    @property
    def times(self) -> Mapping[str, float]:
        """How many times the baseline's throughput is ours."""
        return {name: flood.per_s / self.flood.per_s for name, flood in self.beside.items()}


@dataclass
class Memory:
    """Resident memory (MiB) of one process over time (seconds)."""

    at: list[float] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)

    @property
    def growth(self) -> float:
        """By how much (MiB) the straight line through the second half of the samples rises."""
        at, mib = self._second_half()
        return statistics.linear_regression(at, mib).slope * (at[-1] - at[0])

    @property
    def allowed(self) -> float:
        """By how much (MiB) that may be without anything growing."""
        at, mib = self._second_half()
        line = statistics.linear_regression(at, mib)
        scatter = statistics.pstdev([y - (line.slope * x + line.intercept) for x, y in zip(at, mib, strict=True)])
        return max(_FLAT_SHARE * statistics.mean(mib), _FLAT_SCATTER * scatter)

    @property
    def flat(self) -> bool:
        """Whether memory does not grow any more."""
        return self.growth <= self.allowed

    def summary(self) -> dict[str, Any]:
        """Start, middle, end, and the verdict."""
        middle = self.mib[len(self.mib) // 2]
        figures = {"start": self.mib[0], "middle": middle, "end": self.mib[-1], "growth": self.growth}
        rounded = {name: round(value, 1) for name, value in (figures | {"allowed": self.allowed}).items()}
        return {**rounded, "flat": self.flat}

    def _second_half(self) -> tuple[list[float], list[float]]:
        half = len(self.at) // 2
        return self.at[half:], self.mib[half:]


@contextmanager
def watching_memory(served: Served) -> Iterator[dict[str, Memory]]:
    """The memory of a relay's processes from here to the end of the block."""
    seen: dict[str, Memory] = {name: Memory() for name in served.processes()}
    stop = threading.Event()

    def look() -> None:
        while True:
            for name, mib in served.rss_mib().items():
                seen[name].at.append(perf_counter())
                seen[name].mib.append(mib)
            if stop.wait(_SAMPLED_EVERY_S):
                return

    thread = threading.Thread(target=look, name="memory")
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


@dataclass
class Figures:
    """All of one set-up. `memory` is over everything that was done, `steady` over the same load at the end."""

    setup: str
    rows: list[Row] = field(default_factory=list)
    streams: dict[str, Any] = field(default_factory=dict)
    memory: dict[str, Memory] = field(default_factory=dict)
    steady: dict[str, Memory] = field(default_factory=dict)

    def data(self) -> dict[str, Any]:
        """For programs."""
        return {
            "work": {row.work: _row_data(row) for row in self.rows},
            "streams": self.streams,
            "memory_mib": {name: memory.summary() for name, memory in self.memory.items()},
            "steady_memory_mib": {name: memory.summary() for name, memory in self.steady.items()},
        }

    def table(self) -> str:
        """For people."""
        head = f"{'':24}{'in a second':>14}{'p50':>12}{'p99':>12}{'web cpu':>10}{'background':>11}  baseline"
        lines = [self.setup, head, *(line for row in self.rows for line in _row_lines(row))]
        return "\n".join([*lines, *self._stream_lines(), *self._memory_lines(), ""])

    def _stream_lines(self) -> Iterator[str]:
        for what, told in self.streams.items():
            yield f"{what:24}" + ", ".join(f"{name} {value}" for name, value in told.items())

    def _memory_lines(self) -> Iterator[str]:
        """Over different kinds of work memory rises with each new one; only over the same load it is judged."""
        for name, memory in self.memory.items():
            yield f"{'memory of ' + name:28}{_over_time(memory)}"
        for name, memory in self.steady.items():
            told = memory.summary()
            yield (
                f"{'same load, ' + name:28}{_over_time(memory)}, second half {told['growth']:+.1f} MiB "
                f"({'flat' if told['flat'] else 'grows'}, {told['allowed']:.1f} allowed)"
            )


def _over_time(memory: Memory) -> str:
    told = memory.summary()
    return f"{told['start']:7.1f} -> {told['middle']:.1f} -> {told['end']:.1f} MiB"


def milliseconds(latencies: Sequence[float], share: int) -> float:
    """A percentile of seconds, in milliseconds."""
    return round(1000 * percentile(latencies, share), 2)


def _row_data(row: Row) -> dict[str, Any]:
    return {
        "unit": row.unit,
        **_flood_data(row.flood),
        "cpu_ms": {name: round(value, 3) for name, value in row.cpu_ms.items()},
        "baselines": {
            name: {**_flood_data(flood), "times_ours": round(row.times[name], 2)} for name, flood in row.beside.items()
        },
    }


def _flood_data(flood: Flood) -> dict[str, Any]:
    return {
        "per_s": round(flood.per_s, 1),
        "p50_ms": milliseconds(flood.latencies, 50),
        "p99_ms": milliseconds(flood.latencies, 99),
        "requests": len(flood.latencies),
    }


def _row_lines(row: Row) -> Iterator[str]:
    cpu = "".join(f"{row.cpu_ms.get(name, 0.0):{width}.2f}" for name, width in (("web", 10), ("background", 11)))
    yield f"{row.work:24}{_columns(row.flood)}{cpu}"
    for name, flood in row.beside.items():
        yield f"{'  ' + name:24}{_columns(flood)}{'':21}  {row.times[name]:.2f} times ours"


def _columns(flood: Flood) -> str:
    told = _flood_data(flood)
    return f"{told['per_s']:12.1f}/s{told['p50_ms']:9.2f} ms{told['p99_ms']:9.2f} ms"
