"""Links of all rules become one candidate per test, and unlinked files are told."""

from __future__ import annotations

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Reached, Status
from selector.ownership import link_tests
from selector.ownership.widening import MAX_FILES, widen, widening_reasons
from tests.selector.upstream import HEADER, MemoryTree

CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_linear.py": HEADER + "def test_says_it(): gelu()\ndef test_near(): pass\n",
            "test/test_other.py": "def test_far(): pass\n",
        }
    )
)
LINEAR = FileChange(
    "torch/nn/linear.py", None, Status.MODIFIED, Category.PYTHON_SOURCE, ("gelu",), reached=(Reached("gelu", "gelu"),)
)
ORPHAN = FileChange("torch/orphan.py", None, Status.MODIFIED, Category.PYTHON_SOURCE)


def test_a_test_has_the_reasons_of_all_rules_and_the_rest_is_no_candidate() -> None:
    found = {candidate.test.name: candidate for candidate in link_tests(ChangeSet((LINEAR,)), CATALOG).candidates}
    assert found.keys() == {"test_says_it", "test_near"}
    assert [reason.rule for reason in found["test_says_it"].reasons] == [
        "mention",
        "path",
        "owner label",
        "weighed signals",
    ]
    assert found["test_says_it"].must_run
    assert not found["test_near"].must_run
    assert found["test_near"].score == found["test_near"].reasons[-1].score


def test_must_run_comes_first_and_order_is_stable() -> None:
    first = link_tests(ChangeSet((LINEAR,)), CATALOG).candidates
    assert [candidate.test.name for candidate in first] == ["test_says_it", "test_near"]
    assert link_tests(ChangeSet((ORPHAN, LINEAR)), CATALOG).candidates == first


def test_a_file_without_links_is_told() -> None:
    assert link_tests(ChangeSet((LINEAR, ORPHAN)), CATALOG).unlinked == (ORPHAN,)


def reasons_for(*files: FileChange, unlinked: tuple[FileChange, ...] = ()) -> tuple[str, ...]:
    return widening_reasons(ChangeSet(files), unlinked)


def changed(path: str, category: Category, status: Status = Status.MODIFIED, doubt: str | None = None) -> FileChange:
    return FileChange(path, None, status, category, doubt=doubt)


def test_what_cannot_be_mapped_widens() -> None:
    for category in set(Category) - {Category.PYTHON_SOURCE, Category.TEST, Category.DOCS, Category.CI}:
        assert reasons_for(changed("x", category)), category
    assert reasons_for(changed("torch/x.py", Category.PYTHON_SOURCE, doubt="does not parse"))
    assert reasons_for(unlinked=(ORPHAN,)) == ("torch/orphan.py: no test is linked to it",)
    assert widening_reasons(ChangeSet((), unreadable="garbage"), ())
    assert reasons_for(*[LINEAR] * (MAX_FILES + 1))


def test_what_is_mapped_does_not_widen() -> None:
    assert reasons_for(LINEAR) == ()
    assert reasons_for(changed("test/test_x.py", Category.TEST, doubt="does not parse")) == ()
    new = changed("torch/new.py", Category.PYTHON_SOURCE, Status.ADDED)
    assert reasons_for(new, unlinked=(new,)) == ()


def test_widening_takes_every_test_and_keeps_what_was_found() -> None:
    linked = link_tests(ChangeSet((LINEAR,)), CATALOG).candidates
    everything = widen(CATALOG, linked, ("native", "harness"))
    assert {candidate.test.name for candidate in everything} == {"test_says_it", "test_near", "test_far"}
    by_name = {candidate.test.name: candidate for candidate in everything}
    assert by_name["test_says_it"].must_run
    assert [reason.rule for reason in by_name["test_near"].reasons] == [
        "path",
        "owner label",
        "weighed signals",
        "widened",
    ]
    assert by_name["test_far"].reasons[0].evidence == "native (and 1 more)"
