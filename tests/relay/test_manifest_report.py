"""The report on manifests says what is loaded, what is odd in the folder, what runs out, and what could be required."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from relay.contract import Observation
from relay.manifest_report import ManifestReport, promotions, report_on
from relay.manifests import ManifestStore
from relay.runs.excused import ExcusedAttempt

TODAY = date(2026, 11, 2)
TEST = "test/test_ops.py::TestOpsSPYRE::test_add_spyre"
GOOD = """\
test_suite_config:
  labels: [unit]
  files:
    - path: ${TORCH_ROOT}/test/test_ops.py
      unlisted_test_mode: mandatory_success
      tests:
        - names: [TestOps::test_add, TestOps::test_sub]
          mode: xfail
          reason: not there yet
          issue: "owner/repo#12"
          owner: somebody
          expires: 2026-11-20
        - names: [TestOps::test_mul]
          mode: xfail
          expires: 2026-10-30
        - names: [test_div]
    - path: ${TORCH_DEVICE_ROOT}/tests/test_own.py
      unlisted_test_mode: skip
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ops.yaml").write_text(GOOD)
    return tmp_path


@pytest.fixture
def manifests(folder: Path) -> ManifestStore:
    return ManifestStore(folder)


def report(manifests: ManifestStore, folder: Path) -> ManifestReport:
    return report_on(manifests.current(), folder, TODAY)


def test_a_model_is_a_block_of_its_own_whose_names_are_its_comparisons(folder: Path) -> None:
    source = 'import_path: "a:b", inputs: [{shape: [1], below: 2}], dtypes: [float16]'
    model = f"{{name: one, {source}, compare: [logits, greedy], mode: xfail, expires: 2026-11-20}}"
    (folder / "models.yaml").write_text(f"test_suite_config:\n  files: []\n  models:\n    - {model}\n")
    found = report(ManifestStore(folder), folder)
    (block,) = [block for block in found.blocks if block.model]
    assert (block.file, block.place, block.upstream, block.names) == ("models/one", "models.yaml:4", False, 2)
    assert "models.yaml:4" in {entry.place for entry in found.expiring}


def test_blocks_stand_in_their_order_with_counts(manifests: ManifestStore, folder: Path) -> None:
    found = report(manifests, folder)
    assert found.manifests == ("ops.yaml",)
    first, second = found.blocks
    assert (first.place, first.file, first.upstream, first.unlisted) == (
        *("ops.yaml:4", "test/test_ops.py", True, "mandatory_success"),
    )
    assert (first.entries, first.names, first.modes) == (3, 4, {"mandatory_success": 1, "xfail": 2})
    assert (second.file, second.upstream) == ("${TORCH_DEVICE_ROOT}/tests/test_own.py", False)


def test_excuses_come_by_their_day_with_who_to_ask(manifests: ManifestStore, folder: Path) -> None:
    late, soon = report(manifests, folder).expiring
    assert (late.place, late.days_left, late.names) == ("ops.yaml:13", -3, ("TestOps::test_mul",))
    assert (soon.expires, soon.days_left, soon.owner, soon.issue) == (
        date(2026, 11, 20),
        18,
        "somebody",
        "owner/repo#12",
    )
    assert soon.names == ("TestOps::test_add", "TestOps::test_sub")


def test_findings_have_their_place_and_what_to_do(manifests: ManifestStore, folder: Path) -> None:
    (expired,) = [one for one in report(manifests, folder).findings if one.rule == "expired-entry"]
    assert (expired.file, expired.line, expired.severity) == ("ops.yaml", 15, "warning")
    assert expired.how.startswith("Run the tests")


def test_a_bad_edit_is_a_finding_while_the_last_good_set_is_what_is_loaded(
    manifests: ManifestStore, folder: Path
) -> None:
    report(manifests, folder)
    (folder / "ops.yaml").write_text(GOOD.replace("mode: xfail\n", "mode: never\n", 1))
    found = report(manifests, folder)
    assert [(one.line, one.severity) for one in found.findings if one.severity == "error"] == [(8, "error")]
    assert len(found.blocks) == 2


def test_without_a_folder_there_is_nothing_to_find(tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    found = report_on(ManifestStore(missing).current(), missing, TODAY)
    assert (found.manifests, found.blocks, found.findings, found.expiring) == ((), (), (), ())


def attempts(days: int, machines: int, observation: Observation = Observation.PASSED) -> Iterator[ExcusedAttempt]:
    """Ten runs over so many days on so many machines."""
    for number in range(10):
        at = datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=number % days, minutes=number)
        machine = f"machine-{number % machines}"
        yield ExcusedAttempt(
            TEST, "test/test_ops.py", "test/test_ops.py::TestOps::test_add", observation, number, at, machine
        )


def test_what_has_long_passed_is_proposed_with_its_evidence(manifests: ManifestStore) -> None:
    found = promotions(manifests.current(), list(attempts(5, 2)), "spyre")
    (one,) = found.proposals
    assert (one.place, one.base, one.runs, one.days) == ("ops.yaml:7", "test_add", 10, 5)
    assert one.machines == ("machine-0", "machine-1")
    assert found.from_runs == tuple(range(9, -1, -1))
    assert found.waiting == ()


def test_what_lacks_evidence_waits_and_says_why(manifests: ManifestStore) -> None:
    found = promotions(manifests.current(), list(attempts(1, 1)), "spyre")
    assert found.proposals == ()
    assert [one.why for one in found.waiting] == ["1 of 3 days, 1 of 2 machines of test_add_spyre"]


def test_what_still_fails_is_neither(manifests: ManifestStore) -> None:
    found = promotions(manifests.current(), list(attempts(5, 2, Observation.FAILED)), "spyre")
    assert (found.proposals, found.waiting) == ((), ())
