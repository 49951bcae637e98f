"""Stage 1 on real diffs: no-ops leave, everything else stays with what is known of it."""

from __future__ import annotations

import pytest

from selector.change import Category, Effect, FileChange, Status, analyse
from tests.selector.upstream import MemoryTree, Repository

SOURCE = 'def _helper(x):\n    """Doc."""\n    return x\n\n\ndef public(x):\n    return _helper(x)\n'


def only(files: tuple[FileChange, ...]) -> FileChange:
    (file,) = files
    return file


def test_a_changed_helper_is_a_symbol_and_reaches_its_caller(repository: Repository) -> None:
    base = repository.commit({"torch/functional.py": SOURCE})
    head = repository.commit({"torch/functional.py": SOURCE.replace("return x\n", "return x + 1\n")})
    file = only(repository.change(base, head).files)
    assert (file.category, file.status, file.symbols) == (Category.PYTHON_SOURCE, Status.MODIFIED, ("_helper",))
    assert [reached.name for reached in file.reached] == ["_helper", "public"]
    assert file.matters
    assert file.text == "-    return x\n+    return x + 1"


def test_no_ops_leave_with_their_reason(repository: Repository) -> None:
    base = repository.commit({"torch/functional.py": SOURCE, "docs/a.rst": "a", ".github/x.yml": "a", "tool.sh": "a"})
    (repository.path / "tool.sh").chmod(0o755)
    edited = SOURCE + "# end\n"
    head = repository.commit({"torch/functional.py": edited, "docs/a.rst": "b", ".github/x.yml": "b"})
    change = repository.change(base, head)
    assert change.relevant == ()
    assert {file.path: file.noop for file in change.files} == {
        "torch/functional.py": "comments, docstrings or formatting only",
        "docs/a.rst": "documentation: no test reads it",
        ".github/x.yml": "continuous-integration settings of upstream: not used here",
        "tool.sh": "file mode only",
    }


def test_source_that_does_not_parse_is_kept_in_doubt(repository: Repository) -> None:
    base = repository.commit({"torch/a.py": "x = 1\n", "torch/b.py": "x = 1\n"})
    head = repository.commit({"torch/a.py": "def f(:\n", "torch/b.py": b"x = '\xff'\n"})
    change = repository.change(base, head)
    assert [file.doubt for file in change.relevant] == [
        "the file does not parse on both sides",
        "the file cannot be read as UTF-8 text on both sides",
    ]


def test_a_file_declared_binary_is_still_compared(repository: Repository) -> None:
    base = repository.commit({"torch/functional.py": SOURCE})
    head = repository.commit(
        {"torch/functional.py": SOURCE.replace("return x\n", "return 0\n"), ".gitattributes": "*.py binary\n"}
    )
    file = next(file for file in repository.change(base, head).files if file.path == "torch/functional.py")
    assert (file.status, file.symbols, file.noop) == (Status.BINARY, ("_helper",), None)


def test_a_moved_file_matters_although_its_text_is_the_same(repository: Repository) -> None:
    base = repository.commit({"torch/old.py": SOURCE})
    head = repository.commit({"torch/old.py": None, "torch/new.py": SOURCE})
    file = only(repository.change(base, head).files)
    assert (file.status, file.paths, file.module_level, file.noop) == (
        Status.RENAMED,
        ("torch/new.py", "torch/old.py"),
        True,
        None,
    )


def test_source_moved_to_the_documentation_is_gone_from_the_source(repository: Repository) -> None:
    base = repository.commit({"torch/old.py": SOURCE})
    head = repository.commit({"torch/old.py": None, "docs/old.py": SOURCE})
    file = only(repository.change(base, head).files)
    assert (file.category, file.matters) == (Category.PYTHON_SOURCE, True)


def test_added_and_deleted_files_are_all_their_symbols(repository: Repository) -> None:
    base = repository.commit({"torch/gone.py": "def gone(): return 1\n"})
    head = repository.commit(
        {"torch/gone.py": None, "torch/came.py": "def came(x):\n    return [x for _ in range(9)]\n"}
    )
    files = {file.path: (file.status, file.symbols) for file in repository.change(base, head).files}
    assert files == {"torch/gone.py": (Status.DELETED, ("gone",)), "torch/came.py": (Status.ADDED, ("came",))}


def test_a_submodule_is_its_own_category(repository: Repository) -> None:
    base = repository.commit({"a.md": "a"})
    repository.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},third_party/evil.py")
    repository.git("commit", "--quiet", "-m", "submodule")
    file = only(repository.change(base, repository.git("rev-parse", "HEAD")).files)
    assert (file.category, file.noop, file.doubt) == (Category.SUBMODULE, None, None)


def test_a_link_in_place_of_source_is_in_doubt(repository: Repository) -> None:
    base = repository.commit({"torch/a.py": "x = 1\n"})
    (repository.path / "torch/a.py").unlink()
    (repository.path / "torch/a.py").symlink_to("/etc/passwd")
    files = repository.change(base, repository.commit_all()).files
    assert any(file.doubt for file in files)


@pytest.mark.parametrize("text", ["nonsense", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"])
def test_text_that_is_no_git_diff_is_said_and_not_raised(text: str) -> None:
    change = analyse(text, MemoryTree({}), MemoryTree({}))
    assert change.files == ()
    assert "git diff" in change.unreadable


def test_a_diff_of_files_that_the_trees_lack_is_in_doubt() -> None:
    diff = "diff --git a/torch/x.py b/torch/x.py\n--- a/torch/x.py\n+++ b/torch/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    assert only(analyse(diff, MemoryTree({}), MemoryTree({})).files).doubt is not None


def test_a_diff_of_20000_lines_names_every_function() -> None:
    old = "".join(f"def f{n}(x):\n    return {n}\n" for n in range(10_000))
    new = old.replace("return", "return -1 +")
    hunk = "".join(f"-{line}\n" for line in old.splitlines()) + "".join(f"+{line}\n" for line in new.splitlines())
    diff = f"diff --git a/torch/x.py b/torch/x.py\n--- a/torch/x.py\n+++ b/torch/x.py\n@@ -1,20000 +1,20000 @@\n{hunk}"
    file = only(analyse(diff, MemoryTree({"torch/x.py": old}), MemoryTree({"torch/x.py": new})).files)
    assert len(file.facts) == len(file.symbols) == 10_000
    assert {fact.effect for fact in file.facts} == {Effect.BEHAVIOUR}


def test_the_same_change_gives_the_same_facts_twice(repository: Repository) -> None:
    base = repository.commit({"torch/functional.py": SOURCE})
    head = repository.commit({"torch/functional.py": SOURCE.replace("return x\n", "return x + 1\n")})
    assert repository.change(base, head) == repository.change(base, head)
