"""The JSON document of a run over upstream files."""

from __future__ import annotations

import json
from pathlib import Path

from relay.contract import Observation
from selector.types import CollectedTest
from tests.benchmarks.device_pairs import Seen, key, pair
from tests.benchmarks.device_sides import FileResult, Side
from tests.benchmarks.upstream_document import cpu_side, document

FILE = "test/test_sample.py"


def side(device: str, *seen: Seen | None) -> Side:
    tests = {}
    for number, each in enumerate(seen):
        method = f"test_{number}_{device}"
        test = CollectedTest(f"{FILE}::TestFoo{device.upper()}::{method}", FILE, "TestFoo", f"test_{number}", method)
        tests[key(test, device)] = (test, each or Seen(test.id, None))
    return Side(tests, "", 1.0, lost=0, cut=sum(each is None for each in seen), stray=0)


def result() -> FileResult:
    cpu = side(
        "cpu",
        Seen(f"{FILE}::TestFooCPU::test_0_cpu", Observation.PASSED, 0.5),
        Seen(f"{FILE}::TestFooCPU::test_1_cpu", Observation.SKIPPED, 0.5, "no reason"),
        None,
    )
    failed = Seen(f"{FILE}::TestFooSPYRE::test_0_spyre", Observation.FAILED, 0.5, "AssertionError: no", ("aten::add",))
    device = side("spyre", failed)
    return FileResult(FILE, cpu, device, pair(cpu.tests, device.tests, "spyre"))


def test_a_document_has_a_row_for_every_test() -> None:
    """With what was seen on both devices, and the figures over all."""
    found = json.loads(json.dumps(document([result()], profile="compat")))
    assert [row["standing"] for row in found["files"][0]["tests"]] == ["failed", "not passed on cpu", "not run"]
    assert found["files"][0]["tests"][0]["spyre"]["operators"] == ["aten::add"]
    assert found["profile"] == "compat"
    assert found["figures"]["failed"] == 1


def test_the_cpu_side_comes_back_from_a_document(tmp_path: Path) -> None:
    """A later run need not measure it again: the side is the same, to the last outcome."""
    path = tmp_path / "out.json"
    path.write_text(json.dumps(document([result()])))
    assert cpu_side(path, FILE) == result().cpu
    assert cpu_side(path, "test/test_other.py") is None
    assert cpu_side(None, FILE) is None
