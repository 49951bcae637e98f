"""Arguments of a model's calls are hostile: a tool answers about the tree, or says what is wrong with the call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from selector.change import Category, FileChange, Reached, Status
from selector.manifests import ManifestDocument, load_manifests
from selector.trees import DirectoryTree, SourceTree
from selector.triage.band import Group
from selector.triage.conversation import ToolCall
from selector.triage.knowledge import Knowledge
from selector.triage.reading import TreeReader
from selector.triage.tools import RESULT_CAP, Toolbox
from selector.types import BaseTest, Candidate
from tests.selector.triage.example import CATALOG, CHANGE, TREE, candidates
from tests.selector.upstream import MemoryTree

MANIFEST = """test_suite_config:
  files:
    - path: ${TORCH_ROOT}/test/test_a.py
      unlisted_test_mode: skip
      tests:
        - names: ["TestA::test_0"]
          mode: xfail
"""
OTHER = Candidate(BaseTest("test/test_other.py", "TestB", "test_b"))


def alone(candidate: Candidate) -> Group:
    return Group(str(candidate.test), (candidate,))


def toolbox(tree: SourceTree = TREE, clock: float = 0.0) -> Toolbox:
    tests = {f"t{number}": alone(candidate) for number, candidate in enumerate(candidates(), start=1)}
    knowledge = Knowledge(tests, {"f1": CHANGE.files[0]}, CATALOG, tree)
    return Toolbox({tool.name: tool for tool in (*TreeReader(tree, lambda: clock).tools, *knowledge.tools)})


def use(name: str, *, tree: SourceTree = TREE, **arguments: Any) -> str:
    return toolbox(tree).use(ToolCall("c", name, arguments))


def test_the_seven_tools_are_offered_with_schemas() -> None:
    specs = {spec.name: spec for spec in toolbox().specs}
    assert set(specs) == {
        *("read_file", "grep", "symbol_refs"),
        *("test_history", "op_info", "manifest_lookup", "diff_hunk"),
    }
    assert specs["read_file"].parameters["required"] == ["path"]
    assert specs["grep"].parameters["additionalProperties"] is False


HOSTILE_PATHS = [
    *("/etc/passwd", "../secret.txt", "torch/../../secret.txt", "./torch/x.py", "torch//x.py", "torch\\x.py"),
    *("torch/x.py\0", "link.txt", "folder/secret.txt", "file:///etc/passwd", "~/x", "torch", ".git/config", "*"),
]


@pytest.mark.parametrize("path", HOSTILE_PATHS)
def test_no_path_leads_out_of_the_folder(tmp_path: Path, path: str) -> None:
    (tmp_path / "secret.txt").write_text("SECRET")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("SECRET")
    root = tmp_path / "tree"
    (root / "torch").mkdir(parents=True)
    (root / "torch" / "x.py").write_text("inside")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("SECRET")
    (root / "link.txt").symlink_to(tmp_path / "secret.txt")
    (root / "folder").symlink_to(tmp_path / "outside")
    tree = DirectoryTree(root)
    assert use("read_file", tree=tree, path="torch/x.py") == "1: inside"
    assert use("read_file", tree=tree, path=path) == "error: the tree has no such path"
    for name, argument in (("grep", "text"), ("symbol_refs", "symbol")):
        found = use(name, tree=tree, **{argument: "SECRET", "under": path[:300]})
        assert "SECRET" not in found
        assert "SECRET" not in use(name, tree=tree, **{argument: "SECRET"})


@pytest.mark.parametrize(
    ("name", "arguments", "fault"),
    [
        ("read_file", {}, "path has to be text"),
        ("read_file", {"path": 3}, "path has to be text"),
        ("read_file", {"path": "x" * 301}, "path has to have 1 to 300 characters"),
        ("read_file", {"path": "torch/x.py", "start": 0}, "start has to be 1 to 10000000"),
        ("read_file", {"path": "torch/x.py", "start": 10**30}, "start has to be 1 to 10000000"),
        ("read_file", {"path": "torch/x.py", "start": True}, "start has to be a whole number"),
        ("read_file", {"path": "torch/x.py", "start": 99}, "the file has 3 lines"),
        ("read_file", {"path": "torch/x.py", "mode": "w"}, "read_file takes path, start, end and nothing else"),
        ("grep", {"text": "a\nb"}, "text has to be 3 characters or more on one line"),
        ("grep", {"text": "a"}, "text has to be 3 characters or more on one line"),
        ("symbol_refs", {"symbol": "(a+)+$"}, "symbol has to be an identifier"),
        ("op_info", {"op": "gelu'; drop"}, "op has to be the name of an operator"),
        ("test_history", {"test": "test/test_a.py"}, "no candidate has this id"),
        ("manifest_lookup", {"test": "t99"}, "no candidate has this id"),
        ("diff_hunk", {"file": "torch/x.py"}, "no changed file has this id"),
        ("diff_hunk", {"file": "f1", "start": 500}, "the file has 2 changed lines"),
        ("shell", {"command": "id"}, "there is no tool of this name"),
        ("__class__", {}, "there is no tool of this name"),
    ],
)
def test_a_call_without_sense_is_told_so(name: str, arguments: dict[str, Any], fault: str) -> None:
    assert use(name, **arguments) == f"error: {fault}"


def test_arguments_that_could_not_be_read_are_told_so() -> None:
    assert toolbox().use(ToolCall("c", "grep", None)) == "error: the arguments are no JSON object"


def test_grep_is_literal() -> None:
    """A pattern that would take for ever is only a text that stands nowhere."""
    tree = MemoryTree({"torch/a.py": "a" * 50_000 + "\nx = '(a+)+$'\n"})
    assert use("grep", tree=tree, text="(a+)+$") == "torch/a.py:2: x = '(a+)+$'"
    assert use("grep", tree=tree, text=".*.*.*=.*") == "no place found"


def test_symbol_refs_finds_whole_words() -> None:
    tree = MemoryTree({"torch/a.py": "gelu = 1\ngelu_ = 2\nF.gelu(x)\nmy_gelu\n"})
    assert use("symbol_refs", tree=tree, symbol="gelu") == "torch/a.py:1: gelu = 1\ntorch/a.py:3: F.gelu(x)"
    assert use("symbol_refs", tree=tree, symbol="F.gelu") == "torch/a.py:3: F.gelu(x)"


def test_answers_are_bounded_whatever_is_in_the_tree() -> None:
    tree = MemoryTree({f"torch/{number}.py": ("gelu " * 100 + "\n") * 500 for number in range(100)})
    for answer in (
        use("grep", tree=tree, text="gelu"),
        use("symbol_refs", tree=tree, symbol="gelu"),
        use("read_file", tree=tree, path="torch/1.py", end=10_000_000),
    ):
        assert 0 < len(answer) <= RESULT_CAP
    assert use("grep", tree=tree, text="gelu").endswith("[cut: too long]")


def test_a_search_ends_in_time() -> None:
    seconds = iter(range(0, 1000, 3))
    tree = MemoryTree({f"torch/{number}.py": "nothing" for number in range(10)})
    reader = TreeReader(tree, lambda: next(seconds))
    assert reader.grep("gelu", "torch/") == "[search ended: it took too long]"


def test_lines_are_read_by_range() -> None:
    tree = MemoryTree({"torch/a.py": "\n".join(f"line {number}" for number in range(1, 1001))})
    assert use("read_file", tree=tree, path="torch/a.py", start=999, end=5000) == "999: line 999\n1000: line 1000"
    assert use("read_file", tree=tree, path="torch/a.py").count("\n") == 199


def test_op_info_shows_the_database_and_the_schemas() -> None:
    answer = use("op_info", op="gelu")
    assert answer.startswith("gelu: in the operator database\n")
    assert '        "gelu",' in answer
    assert "native_functions.yaml:1:\n- func: gelu(Tensor self) -> Tensor" in answer
    assert use("op_info", op="nothing.such") == "nothing.such: not in the operator database"


class Observed:
    def tests_using(self, operators: object) -> dict[str, list[str]]:
        """Every test used gelu."""
        return {"aten::gelu": [str(candidate.test) for candidate in candidates()]}


def test_history_has_the_links_and_the_operators_seen() -> None:
    changed = FileChange(
        *("torch/functional.py", None, Status.MODIFIED, Category.PYTHON_SOURCE), reached=(Reached("gelu", "gelu"),)
    )
    assert use("test_history", test="t1") == "linked: mention: says it"
    knowledge = Knowledge({"t1": alone(candidates()[0])}, {"f1": changed}, CATALOG, TREE, observed=Observed())
    assert (
        knowledge.test_history("t1")
        == f"linked: mention: says it\n{candidates()[0].test} used aten::gelu on the device"
    )


def test_manifests_are_looked_up() -> None:
    assert use("manifest_lookup", test="t1") == "no manifests are in use"
    manifests = load_manifests([ManifestDocument("device.yaml", MANIFEST)])
    knowledge = Knowledge({"t1": alone(candidates()[0]), "t2": alone(OTHER)}, {}, CATALOG, TREE, manifests)
    listed = knowledge.manifest_lookup("t1").split("\n")
    assert listed[0].startswith("device.yaml:")
    assert listed[0].endswith(": unlisted tests are skip")
    assert listed[1].endswith(": TestA::test_0: xfail")
    assert knowledge.manifest_lookup("t2") == "no manifest lists the file"


def test_the_diff_is_shown_by_the_line() -> None:
    assert use("diff_hunk", file="f1") == "1: -a\n2: +b"
    assert use("diff_hunk", file="f1", start=2) == "2: +b"
