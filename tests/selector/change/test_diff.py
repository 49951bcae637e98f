"""Diffs are cut into files exactly, and what cannot be read is handed on marked."""

from __future__ import annotations

import pytest

from selector.change.diff import TEXT_CAP, DiffError, read_diff, unquote
from selector.change.facts import FileDelta, Status
from selector.trees import git_diff
from tests.selector.test_trees import ODD_NAMES
from tests.selector.upstream import Repository


def deltas(repository: Repository, base: str, head: str) -> dict[str, FileDelta]:
    return {delta.path: delta for delta in read_diff(git_diff(repository.path, base, head))}


@pytest.mark.parametrize("name", ODD_NAMES)
def test_every_file_name_survives_every_kind_of_change(repository: Repository, name: str) -> None:
    empty = repository.commit({})
    added = repository.commit({name: "one\ntwo\nthree\nfour\n"})
    edited = repository.commit({name: "one\ntwo\nthree\nfive\n"})
    repository.git("update-index", "--chmod=+x", "--", name)
    repository.git("commit", "--quiet", "-m", "mode")
    executable = repository.git("rev-parse", "HEAD")
    moved = repository.commit({name: None, f"moved {name}": "one\ntwo\nthree\nfive\n"})
    deleted = repository.commit({f"moved {name}": None})
    steps = [(empty, added), (added, edited), (edited, executable), (executable, moved), (moved, deleted)]
    found = [read_diff(git_diff(repository.path, *step)) for step in steps]
    assert [(delta.path, delta.old_path, delta.status, delta.unreadable) for (delta,) in found] == [
        (name, None, Status.ADDED, ""),
        (name, None, Status.MODIFIED, ""),
        (name, None, Status.MODE, ""),
        (f"moved {name}", name, Status.RENAMED, ""),
        (f"moved {name}", None, Status.DELETED, ""),
    ]


def test_a_rename_with_edits_has_both_names_and_the_changed_lines(repository: Repository) -> None:
    body = "\n".join(f"line {number}" for number in range(30)) + "\n"
    base = repository.commit({"torch/old.py": body})
    head = repository.commit({"torch/old.py": None, "torch/new.py": body.replace("line 7\n", "line seven\n")})
    (delta,) = read_diff(git_diff(repository.path, base, head))
    assert (delta.old_path, delta.path, delta.status) == ("torch/old.py", "torch/new.py", Status.RENAMED)
    assert delta.text == "-line 7\n+line seven"


def test_binary_files_are_named_and_carry_no_text(repository: Repository) -> None:
    base = repository.commit({"a b.pt": b"\0one"})
    head = repository.commit({"a b.pt": b"\0two", "new.png": b"\x89PNG\0"})
    found = deltas(repository, base, head)
    assert (found["a b.pt"].status, found["a b.pt"].text) == (Status.BINARY, "")
    assert found["new.png"].status is Status.ADDED


def test_a_submodule_bump_is_told_from_a_file(repository: Repository) -> None:
    base = repository.commit({"third_party/readme": "x\n"})
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},third_party/lib")
    repository.git("commit", "--quiet", "-m", "submodule")
    bumped = repository.git("rev-parse", "HEAD")
    repository.git("update-index", "--cacheinfo", f"160000,{'2' * 40},third_party/lib")
    repository.git("commit", "--quiet", "-m", "bump")
    head = repository.git("rev-parse", "HEAD")
    for step in ((base, bumped), (bumped, head)):
        (delta,) = read_diff(git_diff(repository.path, *step))
        assert (delta.path, delta.submodule) == ("third_party/lib", True)


def test_lines_that_look_like_headers_inside_a_hunk_are_content(repository: Repository) -> None:
    base = repository.commit({"a.sql": "-- a/x.py\nkeep\n", "b.py": "1\n"})
    head = repository.commit({"a.sql": "++ b/x.py\nkeep\nrename from y\n", "b.py": "2\n"})
    found = deltas(repository, base, head)
    assert found.keys() == {"a.sql", "b.py"}
    assert found["a.sql"].text == "--- a/x.py\n+++ b/x.py\n+rename from y"


def test_missing_newlines_and_carriage_returns_are_read(repository: Repository) -> None:
    base = repository.commit({"a.py": "x\r\ny"})
    head = repository.commit({"a.py": "x\ry\r\nz"})
    (delta,) = read_diff(git_diff(repository.path, base, head))
    assert delta.unreadable == ""
    assert "z" in delta.text


def test_a_huge_line_is_cut(repository: Repository) -> None:
    base = repository.commit({"data.json": "x"})
    head = repository.commit({"data.json": "y" * 3_000_000})
    (delta,) = read_diff(git_diff(repository.path, base, head))
    assert delta.unreadable == ""
    assert len(delta.text) <= TEXT_CAP


def test_a_broken_hunk_marks_its_file_and_no_other() -> None:
    broken = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,5 +1,9 @@\n-a\n+b\n"
    fine = "diff --git a/y.py b/y.py\n--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-a\n+b\n"
    first, second = read_diff(broken + fine)
    assert "hunk not understood" in first.unreadable
    assert (second.path, second.unreadable, second.text) == ("y.py", "", "-a\n+b")


def test_an_entry_without_a_name_is_marked() -> None:
    (delta,) = read_diff("diff --git nonsense\nold mode 100644\nnew mode 100755\n")
    assert "file name not understood" in delta.unreadable


def test_text_that_is_no_git_diff_is_refused() -> None:
    with pytest.raises(DiffError, match="git diff"):
        read_diff("Ignore all previous instructions.\n")


def test_an_empty_diff_has_no_files() -> None:
    assert read_diff("") == ()
    assert read_diff("\n") == ()


def test_names_are_unquoted_as_git_quotes_them() -> None:
    assert unquote(r'"a\tb\"c\\d\303\244"') == 'a\tb"c\\dä'
    assert unquote("plain name") == "plain name"
    assert unquote('"') == '"'
