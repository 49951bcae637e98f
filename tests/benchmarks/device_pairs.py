"""One upstream test on two devices: which runs belong together, what the pair says, and what all pairs say in figures.

Pure: nothing runs here. A test on the CPU and one on the device are a pair when they have the same class in the source,
the same base test, operator, dtype and parameters, and the same method name once the device's name in it is set aside
(`test_add_cpu_float32` and `test_add_spyre_float32`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from relay.contract import Observation
from selector.types import CollectedTest
from tests.benchmarks.device_rules import rule_in

#: The reason that upstream's `onlyCPU` gives when another device runs the test.
_ONLY_CPU = "Only runs on cpu"
_NUMBERS = re.compile(r"0x[0-9a-f]+|\d[\d.e+-]*")
_REASON_CHARS = 160

Key = tuple[str, ...]


class Standing(StrEnum):
    """What a pair says about the device.

    Only the first four measure it: tests that pass on the CPU and that upstream runs on other devices, too. `CPU_ONLY`
    is upstream's own `onlyCPU`.
    """

    PASSED = "passed"
    UNSUPPORTED = "unsupported"
    FAILED = "failed"
    SKIPPED = "skipped"
    CPU_ONLY = "cpu only"
    NO_COUNTERPART = "no counterpart"
    DEVICE_ONLY = "device only"
    NOT_PASSED_ON_CPU = "not passed on cpu"
    NOT_RUN = "not run"


MEASURED = (Standing.PASSED, Standing.UNSUPPORTED, Standing.FAILED, Standing.SKIPPED)


@dataclass(frozen=True, slots=True)
class Seen:
    """One attempt at one test on one device. `observation` is None for a test that was collected and never reported."""

    id: str
    observation: Observation | None
    seconds: float = 0.0
    detail: str = ""
    operators: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A test on the CPU and on the device; None where it was not collected. `generated`: PyTorch's device framework
    made it, so its tensors are on the device; other tests run the same on both."""

    base: str
    generated: bool
    cpu: Seen | None
    device: Seen | None


def key(test: CollectedTest, device: str) -> Key:
    """What a test is called on every device. The method's name carries its parameters; their values as text may name
    the device, or be known to one runner and not to another."""
    return (test.cls, test.base, _without_device(test, device), test.op or "", test.dtype or "")


def is_generated(test: CollectedTest, device: str) -> bool:
    """Whether the class was made for `device` by PyTorch's device framework."""
    return test.id.split("::")[1:2] == [test.cls + device.upper()]


def pair(
    cpu: Mapping[Key, tuple[CollectedTest, Seen]], device: Mapping[Key, tuple[CollectedTest, Seen]], name: str
) -> list[Pair]:
    """All tests of both sides, those of the CPU first. `name` is the device's name in test ids."""
    pairs = []
    for each in dict.fromkeys((*cpu, *device)):
        here, there = cpu.get(each), device.get(each)
        test, own = (here[0], "cpu") if here else (device[each][0], name)
        pairs.append(
            Pair(str(test.base_test), is_generated(test, own), here and here[1], there and there[1]),
        )
    return pairs


def standing(pair: Pair) -> Standing:
    """What the pair says."""
    if pair.cpu is None:
        return Standing.DEVICE_ONLY
    if pair.cpu.observation is None:
        return Standing.NOT_RUN
    if pair.cpu.observation is not Observation.PASSED:
        return Standing.NOT_PASSED_ON_CPU
    return Standing.NO_COUNTERPART if pair.device is None else _on_device(pair.device)


def _on_device(seen: Seen) -> Standing:
    """What the device says about a test that passes on the CPU."""
    match seen.observation:
        case None:
            return Standing.NOT_RUN
        case Observation.PASSED:
            return Standing.PASSED
        case Observation.SKIPPED:
            return Standing.CPU_ONLY if _ONLY_CPU in seen.detail else Standing.SKIPPED
        case Observation.FAILED if rule_in(seen.detail):
            return Standing.UNSUPPORTED
        case _:
            return Standing.FAILED


def alike(message: str) -> str:
    """The first line of a message without its numbers: the same text for failures of one kind."""
    line = next((line for line in message.splitlines() if line.strip()), "no detail")
    return _NUMBERS.sub("N", line.strip())[:_REASON_CHARS]


def reason(seen: Seen) -> str:
    """What kind of failure this is, the same for tests that fail alike."""
    if seen.observation is not Observation.FAILED:
        return f"{seen.observation}: {alike(seen.detail)}"
    rule = rule_in(seen.detail)
    return f"unsupported: {rule}" if rule else alike(seen.detail)


def by_reason(pairs: Iterable[Pair]) -> list[tuple[str, list[Pair]]]:
    """Pairs with their device's reason in common, the largest group first."""
    groups: dict[str, list[Pair]] = {}
    for each in pairs:
        if each.device is not None:
            groups.setdefault(reason(each.device), []).append(each)
    return sorted(groups.items(), key=lambda group: -len(group[1]))


@dataclass(frozen=True, slots=True)
class Figures:
    """How many tests stand how, and the shares of those that the device is measured by (0 to 1)."""

    counts: Mapping[str, int]
    measured: int
    passed: float
    unsupported: float
    failed: float
    skipped: float

    def sentence(self) -> str:
        """The figures for people."""
        count = self.counts
        return (
            f"{self.measured} tests pass on cpu and are not cpu only: {self.passed:.2%} pass, "
            f"{self.unsupported:.2%} unsupported ({count[Standing.UNSUPPORTED]}), "
            f"{self.failed:.2%} fail ({count[Standing.FAILED]}), "
            f"{self.skipped:.2%} skipped ({count[Standing.SKIPPED]}); "
            f"beside them {count[Standing.CPU_ONLY]} that upstream runs on the cpu only, "
            f"{count[Standing.NO_COUNTERPART]} without and {count[Standing.DEVICE_ONLY]} as a counterpart, "
            f"{count[Standing.NOT_PASSED_ON_CPU]} that do not pass on cpu, {count[Standing.NOT_RUN]} not run"
        )


def figures(pairs: Sequence[Pair]) -> Figures:
    """The overall figure."""
    found = Counter(standing(each) for each in pairs)
    counts = {str(each): found[each] for each in Standing}
    measured = sum(found[each] for each in MEASURED)
    return Figures(counts, measured, *(found[each] / max(measured, 1) for each in MEASURED))


def _without_device(test: CollectedTest, device: str) -> str:
    """The method without the device's name: its last occurrence, as the framework puts only dtypes behind it."""
    if not is_generated(test, device):
        return test.method
    parts = list(re.finditer(rf"_{device}(?=_|$)", test.method))
    return test.method[: parts[-1].start()] + test.method[parts[-1].end() :] if parts else test.method
