"""Pairing of tests across devices, and what pairs say."""

from __future__ import annotations

from dataclasses import replace

from relay.contract import Observation
from selector.types import CollectedTest
from tests.benchmarks.device_pairs import Pair, Seen, Standing, by_reason, figures, is_generated, key, pair, standing

FILE = "test/test_sample.py"
REFUSED = "NotImplementedError: spyre: unsupported: sparse-layout: aten::mm needs a sparse tensor"


def collected(
    cls: str, method: str, device: str | None, base: str = "test_add", dtype: str | None = None
) -> CollectedTest:
    shown = cls + (device or "").upper()
    return CollectedTest(f"{FILE}::{shown}::{method}", FILE, cls, base, method, dtype=dtype)


def seen(observation: Observation | None, detail: str = "") -> Seen:
    return Seen("id", observation, 0.1, detail)


def one(cpu: Seen | None, device: Seen | None) -> Pair:
    return Pair("base", True, cpu, device)


PASSED = seen(Observation.PASSED)


def test_the_same_test_on_two_devices_is_one_pair() -> None:
    """Operator, dtype and the rest of the name agree once the device's name is set aside."""
    cpu = collected("TestFoo", "test_add_cpu_float32", "cpu", dtype="float32")
    device = collected("TestFoo", "test_add_spyre_float32", "spyre", dtype="float32")
    pairs = pair({key(cpu, "cpu"): (cpu, PASSED)}, {key(device, "spyre"): (device, PASSED)}, "spyre")
    assert pairs == [Pair(f"{FILE}::TestFoo::test_add", True, PASSED, PASSED)]


def test_only_the_last_device_name_in_a_method_is_the_frameworks() -> None:
    """`test_to_cpu_cpu` and `test_to_cpu_spyre` are the same test, and not that of `test_to`."""
    cpu = collected("TestFoo", "test_to_cpu_cpu", "cpu", "test_to_cpu")
    device = collected("TestFoo", "test_to_cpu_spyre", "spyre", "test_to_cpu")
    assert key(cpu, "cpu") == key(device, "spyre")
    assert "test_to_cpu" in key(cpu, "cpu")


def test_another_dtype_is_another_test() -> None:
    """A test that the device has for float16 alone does not stand in for float32."""
    cpu = collected("TestFoo", "test_add_cpu_float32", "cpu", dtype="float32")
    device = collected("TestFoo", "test_add_spyre_float16", "spyre", dtype="float16")
    pairs = pair({key(cpu, "cpu"): (cpu, PASSED)}, {key(device, "spyre"): (device, PASSED)}, "spyre")
    assert [(each.cpu, each.device) for each in pairs] == [(PASSED, None), (None, PASSED)]


def test_what_is_known_of_parameters_changes_nothing() -> None:
    """A parameter can hold the device's name, and an earlier document may hold no parameters at all."""
    cpu = collected("TestFoo", "test_add_mode_sum_cpu", "cpu")
    device = replace(collected("TestFoo", "test_add_mode_sum_spyre", "spyre"), parameters=(("mode", "sum"),))
    assert key(cpu, "cpu") == key(device, "spyre")


def test_a_test_without_a_device_keeps_its_name() -> None:
    """A plain class is no device class, and a `_cpu` in its methods is part of the name."""
    plain = collected("TestFoo", "test_add_cpu", None)
    assert not is_generated(plain, "cpu")
    assert "test_add_cpu" in key(plain, "cpu")


def test_a_test_that_passes_on_the_cpu_measures_the_device() -> None:
    """Passed, unsupported, failed and skipped, each for its own observation."""
    for device, expected in (
        (PASSED, Standing.PASSED),
        (seen(Observation.FAILED, "AssertionError: no"), Standing.FAILED),
        (seen(Observation.CRASHED, "killed"), Standing.FAILED),
        (seen(Observation.TIMED_OUT), Standing.FAILED),
        (seen(Observation.MISSING), Standing.FAILED),
        (seen(Observation.FAILED, REFUSED), Standing.UNSUPPORTED),
        (seen(Observation.SKIPPED, "needs two devices"), Standing.SKIPPED),
    ):
        assert standing(one(PASSED, device)) is expected


def test_a_refusal_counts_by_the_fixed_list_only() -> None:
    """An invented rule is a failure, and so is a crash in whose output a rule is printed."""
    invented = seen(Observation.FAILED, "NotImplementedError: spyre: unsupported: too-hard: not today")
    assert standing(one(PASSED, invented)) is Standing.FAILED
    assert standing(one(PASSED, seen(Observation.CRASHED, REFUSED))) is Standing.FAILED


def test_what_the_device_is_not_measured_by() -> None:
    """Tests of the CPU alone, tests that do not pass on the CPU, and tests that did not run."""
    failed = seen(Observation.FAILED, "AssertionError: skew")
    for cpu, device, expected in (
        (PASSED, None, Standing.NO_COUNTERPART),
        (PASSED, seen(Observation.SKIPPED, "Only runs on cpu"), Standing.CPU_ONLY),
        (failed, failed, Standing.NOT_PASSED_ON_CPU),
        (failed, PASSED, Standing.NOT_PASSED_ON_CPU),
        (None, PASSED, Standing.DEVICE_ONLY),
        (seen(None), PASSED, Standing.NOT_RUN),
        (PASSED, seen(None), Standing.NOT_RUN),
    ):
        assert standing(one(cpu, device)) is expected


def test_failures_that_differ_in_numbers_are_one_reason() -> None:
    """The largest group comes first."""
    pairs = [
        one(PASSED, seen(Observation.FAILED, "KeyError: 'other'")),
        one(PASSED, seen(Observation.FAILED, "AssertionError: 1.5e-3 at (0, 2)\nframe a")),
        one(PASSED, seen(Observation.FAILED, "AssertionError: 7 at (1, 13)\nframe b")),
    ]
    assert [(reason, len(group)) for reason, group in by_reason(pairs)] == [
        ("AssertionError: N at (N, N)", 2),
        ("KeyError: 'other'", 1),
    ]


def test_shares_are_of_the_measured_tests() -> None:
    """Skew and tests of the CPU alone are counted beside them."""
    pairs = [one(PASSED, PASSED)] * 3 + [one(PASSED, seen(Observation.FAILED, REFUSED)), one(PASSED, None)]
    found = figures([*pairs, one(seen(Observation.FAILED), PASSED)])
    assert (found.measured, found.passed, found.unsupported, found.failed, found.skipped) == (4, 0.75, 0.25, 0, 0)
    assert found.counts[Standing.NO_COUNTERPART] == 1
    assert found.counts[Standing.NOT_PASSED_ON_CPU] == 1


def test_no_tests_have_figures_too() -> None:
    """Nothing is divided by zero."""
    assert figures([]).measured == 0
