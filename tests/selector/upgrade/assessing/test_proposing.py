"""The patch writes what two trees settle about names, keeps every other character, and tells what it leaves."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from selector.manifests import ManifestDocument
from selector.types import BaseTest
from selector.upgrade.assessing.patching import propose_patch
from selector.upgrade.types import (
    ChangedTest,
    OpInfoDifference,
    TestChange,
    TestDifference,
    UpgradeReport,
)
from tests.selector.upgrade.sides import FILE, manifest, named

OTHER = "test/test_other.py"
REPORT = UpgradeReport("1", "2", "spyre", TestDifference((), 1, 1), OpInfoDifference((), 0, 0), (), ())


def patch(document: ManifestDocument, *tests: ChangedTest) -> str:
    stays = ChangedTest(named("test_that_stays"), (TestChange.UNCHANGED,))
    return propose_patch(replace(REPORT, difference=TestDifference((*tests, stays), 1, 1)), [document])


def lines(document: ManifestDocument, *tests: ChangedTest) -> list[str]:
    """The lines that the patch removes and adds, and what it tells."""
    found = patch(document, *tests).splitlines()
    return [line for line in found if line.startswith(("+", "-", "#")) and not line.startswith(("+++", "---"))]


def became(old: str, new: BaseTest | None, *, confidence: float = 1.0, cls: str = "TestThings") -> ChangedTest:
    before = named(old, cls=cls)
    if new is None:
        return ChangedTest(before, (TestChange.REMOVED,))
    if new == before:
        return ChangedTest(before, (TestChange.UNCHANGED,))
    change = TestChange.RENAMED if (new.file, new.cls) == (before.file, before.cls) else TestChange.MOVED
    return ChangedTest(new, (change,), former=before, confidence=confidence)


def test_a_renamed_test_is_listed_by_its_new_name() -> None:
    document = manifest("- names:\n    - TestThings::test_a  # why\n    - test_b\n- names: ['test_a']\n  mode: xfail")
    assert lines(document, became("test_a", named("test_new"))) == [
        "-            - TestThings::test_a  # why",
        "+            - TestThings::test_new  # why",
        "-        - names: ['test_a']",
        "+        - names: ['test_new']",
    ]


def test_a_removed_test_leaves_and_so_does_an_entry_that_names_no_other() -> None:
    document = manifest("- names: [test_a, test_b]\n- names:\n    - test_a\n  mode: skip")
    assert lines(document, became("test_a", None)) == [
        "-        - names: [test_a, test_b]",
        "-        - names:",
        "-            - test_a",
        "-          mode: skip",
        "+        - names: [test_b]",
    ]


def test_a_test_of_another_class_is_rewritten_where_the_class_is_named() -> None:
    moved = became("test_a", named("test_a", cls="TestNew"))
    assert lines(manifest("- names: [TestThings::test_a]"), moved) == [
        "-        - names: [TestThings::test_a]",
        "+        - names: [TestNew::test_a]",
    ]
    assert patch(manifest("- names: [test_a]"), moved) == ""


def test_a_test_of_another_file_takes_its_entry_along() -> None:
    document = manifest("- names: [test_a, test_b]\n  mode: xfail\n  tags: [x]")
    assert lines(document, became("test_a", named("test_a", file=OTHER))) == [
        "-        - names: [test_a, test_b]",
        "+        - names: [test_b]",
        "+",
        f"+    - path: ${{TORCH_ROOT}}/{OTHER}",
        "+      unlisted_test_mode: skip",
        "+      tests:",
        "+        - names:",
        "+            - test_a",
        "+          mode: xfail",
        "+          tags:",
        "+            - x",
    ]


def test_a_file_that_moved_whole_keeps_its_block() -> None:
    moved = (became("test_a", named("test_a", file=OTHER)), became("test_b", named("test_c", file=OTHER)))
    assert lines(manifest("- names: [test_a, test_b]"), *moved) == [
        f"-    - path: ${{TORCH_ROOT}}/{FILE}",
        f"+    - path: ${{TORCH_ROOT}}/{OTHER}",
        "-        - names: [test_a, test_b]",
        "+        - names: [test_a, test_c]",
    ]


def test_a_name_that_still_stands_for_a_test_stays() -> None:
    stays = became("test_a", named("test_a", cls="TestTwo"), cls="TestTwo")
    assert patch(manifest("- names: [test_a]"), stays, became("test_a", None)) == ""


def test_a_guess_is_left_to_a_person_and_told() -> None:
    found = patch(manifest("- names: [test_a]"), became("test_a", named("test_new"), confidence=0.6))
    assert found == f"# m.yaml: test_a of {FILE} is left to a person; it may be {named('test_new')} now\n"


def test_a_pattern_that_matches_nothing_any_more_is_told() -> None:
    document = manifest("- names: ['test_a.*', test_x]")
    found = patch(document, became("test_a_one", None), became("test_x", named("test_x")))
    assert found == f"# m.yaml: the pattern test_a.* matches no test of {FILE} any more\n"


def test_a_block_about_a_file_that_is_gone_is_told() -> None:
    gone = replace(REPORT, difference=TestDifference((became("test_a", None),), 1, 0))
    found = propose_patch(gone, [manifest("- names: [test_a]\n  mode: skip")])
    assert found.startswith(f"# m.yaml: upstream has no test in {FILE} any more; is its block still needed?\n--- a/")


def test_a_block_that_cannot_be_edited_in_place_is_left_and_told() -> None:
    document = manifest("- {names: &n [test_a, test_b]}\n- names: *n\n  mode: skip")
    found = patch(document, became("test_a", None))
    assert found.startswith(f"# m.yaml: the block about {FILE} is left as it is: m.yaml:")
    assert "@@" not in found


def test_the_patch_can_be_applied(tmp_path: Path) -> None:
    document = manifest("- names: [test_a, test_b]")
    (tmp_path / document.name).write_text(document.text)
    written = patch(document, became("test_a", named("test_new")))
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=written, text=True, check=True)
    assert "names: [test_new, test_b]" in (tmp_path / document.name).read_text()
