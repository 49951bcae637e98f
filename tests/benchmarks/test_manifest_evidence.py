"""What was measured on the device, held beside manifests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from selector.manifests import ManifestDocument
from selector.manifests.authoring.generation import generate
from selector.manifests.authoring.result_files import read_results
from selector.manifests.authoring.results import Naming, no_source_names
from tests.benchmarks.manifest_evidence import idle, read, row, verdicts

FILE = "test/test_sample.py"
REFUSAL = "NotImplementedError: spyre: unsupported: sparse-layout: no sparse tensors"


def found(base: str, cpu: str, observation: str, detail: str = "") -> dict[str, Any]:
    """A test of an upstream document: what was seen on the CPU, and on the device."""
    seen = {"observation": observation, "seconds": 0.5, "detail": detail}
    return {
        "base": f"{FILE}::TestFoo::{base}",
        "cpu": {"id": f"{FILE}::TestFooCPU::{base}_cpu_float32", "observation": cpu},
        "spyre": {"id": f"{FILE}::TestFooSPYRE::{base}_spyre_float32", **seen},
    }


TESTS = [
    found("test_good", "passed", "passed"),
    found("test_sparse", "passed", "failed", REFUSAL),
    found("test_wrong", "passed", "failed", "AssertionError: no"),
    found("test_elsewhere", "skipped", "failed", "AssertionError: no CUDA"),
    found("test_skewed", "failed", "failed", "ImportError: no such name"),
]
COLLECTED = [{"id": test["cpu"]["id"], "op": "add", "dtype": "float32", "parameters": []} for test in TESTS]
DOCUMENT = {"files": [{"file": FILE, "tests": TESTS, "collected_on_cpu": COLLECTED}]}


def manifest(*names: str) -> ManifestDocument:
    listed = "".join(f"      - names: [{name}]\n        mode: xfail\n" for name in names)
    tests = f"      tests:\n{listed}" if names else ""
    block = f"    - path: ${{TORCH_ROOT}}/{FILE}\n      unlisted_test_mode: mandatory_success\n{tests}"
    return ManifestDocument("sample.yaml", f"test_suite_config:\n  labels: [unit]\n  files:\n{block}")


def test_what_collecting_told_on_the_cpu_is_kept_for_the_device() -> None:
    """The name in the source, the operator and the dtype are those of the test's twin."""
    (first, *_) = read([DOCUMENT])
    assert (first.test.cls, first.test.base, first.test.op, first.test.dtype) == (
        "TestFoo",
        "test_good",
        "add",
        "float32",
    )
    assert first.test.method == "test_good_spyre_float32"


def test_a_manifest_generated_from_the_rows_leaves_version_skew_out() -> None:
    """What the CPU fails as well is no news about the device."""
    rows = json.dumps({"tests": [row(one) for one in read([DOCUMENT])]}).encode()
    made = generate(read_results("rows.json", rows, Naming("spyre", no_source_names)), device="spyre")
    assert "TestFoo::test_sparse" in made.text
    assert "TestFoo::test_wrong" in made.text
    assert "TestFoo::test_elsewhere" in made.text
    assert "test_skewed" not in made.text
    assert "test_good" not in made.text


def test_a_required_test_that_fails_on_the_device_alone_is_wrong() -> None:
    judged = verdicts(list(read([DOCUMENT])), [manifest("test_sparse")])
    assert [one.measured.test.base for one in judged if one.is_wrong] == ["test_wrong", "test_elsewhere"]


def test_a_failure_in_company_says_nothing_of_a_test_that_runs_alone() -> None:
    alone = manifest("test_wrong").text.replace("mode: xfail", "isolate: true")
    judged = verdicts(list(read([DOCUMENT])), [ManifestDocument("sample.yaml", alone)])
    assert [one.measured.test.base for one in judged if one.is_wrong] == ["test_sparse", "test_elsewhere"]


@pytest.mark.parametrize(("limit", "wrong"), [(100, ["test_slow"]), (300, [])])
def test_a_time_out_says_nothing_of_a_test_that_is_given_more_time(limit: int, wrong: list[str]) -> None:
    slow = found("test_slow", "passed", "timed_out")
    slow["spyre"]["seconds"] = 120.5
    hurried = {
        "files": [{"file": FILE, "tests": [slow], "collected_on_cpu": [{**COLLECTED[0], "id": slow["cpu"]["id"]}]}]
    }
    given = manifest("test_slow").text.replace("mode: xfail", f"timeout_s: {limit}")
    judged = verdicts(list(read([hurried])), [ManifestDocument("sample.yaml", given)])
    assert [one.measured.test.base for one in judged if one.is_wrong] == wrong


def test_an_entry_is_idle_when_no_variant_fails() -> None:
    judged = verdicts(list(read([DOCUMENT])), [manifest("test_sparse", "test_good", "test_skewed")])
    names = sorted(name for _, name in idle(judged))
    assert names == [f"{FILE}::test_good", f"{FILE}::test_skewed"]


@pytest.mark.parametrize("names", [(), ("test_good",)])
def test_tests_of_files_without_a_block_are_counted_apart(names: tuple[str, ...]) -> None:
    document = ManifestDocument("other.yaml", manifest(*names).text.replace("test_sample", "test_other"))
    words = {one.word for one in verdicts(list(read([DOCUMENT])), [document])}
    assert words == {"not listed: works", "not listed: fails", "not listed: says nothing"}
