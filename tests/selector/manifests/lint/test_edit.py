"""An edit does what it says and nothing else: comments, order and layout stay, or the text is not changed."""

from __future__ import annotations

import pytest
import yaml

from selector.manifests.document import Path
from selector.manifests.lint.edit import Append, Edit, EditError, Remove, SetValue, apply

TEXT = """\
# top
test_suite_config:
  labels: [unit, trunk] # tiers
  files:
    # about the block
    - path: "${TORCH_ROOT}/test/test_a.py"  # quoted
      # below the path
      tests:
        - names:
            - a  # why a
            # about b
            - b  # why b
            # about c
            - c
          mode: xfail

        # about two
        - names: [x, on, 1e-3]
          mode: skip  # why two
        # about three
        - names: &n ['y', "z"]
        - names: *n
  # about global
  global:
    supported_ops: []   # none
    supported_dtypes:
      - {name: float16, precision: {atol: 1e-3}}
# end
"""
BLOCK: Path = ("test_suite_config", "files", 0)
TESTS: Path = (*BLOCK, "tests")
ATOL: Path = ("test_suite_config", "global", "supported_dtypes", 0, "precision", "atol")


def changed(*edits: Edit) -> list[str]:
    """The lines that an edit takes (`-`) and gives (`+`)."""
    before, after = TEXT.splitlines(), apply(TEXT, edits).splitlines()
    gone = [f"-{line.strip()}" for line in before if line not in after]
    return gone + [f"+{line.strip()}" for line in after if line not in before]


def test_no_edit_changes_nothing() -> None:
    assert apply(TEXT, []) == TEXT


@pytest.mark.parametrize(
    ("edit", "lines"),
    [
        (SetValue((*TESTS, 0, "mode"), "skip"), ["-mode: xfail", "+mode: skip"]),
        (SetValue((*TESTS, 1, "mode"), "xfail"), ["-mode: skip  # why two", "+mode: xfail # why two"]),
        (SetValue((*TESTS, 0, "reason"), "no sparse"), ["+reason: no sparse"]),
        (SetValue((*BLOCK, "unlisted_test_mode"), "skip", after="path"), ["+unlisted_test_mode: skip"]),
        (Append((*TESTS, 0, "names"), "d"), ["+- d"]),
        (Append(TESTS, {"names": ["q"]}), ["+- q"]),
        (Remove((*TESTS, 0, "names", 2)), ["-- c"]),
        (Remove((*TESTS, 0, "names", 1)), ["-- b  # why b", "+# why b"]),
        (Remove((*TESTS, 1)), ["-- names: [x, on, 1e-3]", "-mode: skip  # why two", "+# why two"]),
        (Remove(("test_suite_config", "global", "supported_ops")), ["-supported_ops: []   # none", "+# none"]),
        (SetValue(ATOL, 1e-9), [f"{sign}- {{name: float16, precision: {{atol: {number}}}}}"
                                for sign, number in (("-", "1e-3"), ("+", "1.0e-09"))]),
    ],
)  # fmt: skip  # one edit, one line
def test_an_edit_touches_its_own_lines_and_keeps_comments(edit: Edit, lines: list[str]) -> None:
    assert [" ".join(line.split()) for line in changed(edit)] == [" ".join(line.split()) for line in lines]


def test_an_equal_text_is_written_without_its_quotes() -> None:
    after = apply(TEXT, [SetValue((*BLOCK, "path"), "${TORCH_ROOT}/test/test_a.py")])
    assert "    - path: ${TORCH_ROOT}/test/test_a.py " in after
    assert "# quoted\n      # below the path\n" in after


def test_paths_are_those_of_the_text_as_given_whatever_the_other_edits_are() -> None:
    names = (*TESTS, 0, "names")
    after = apply(TEXT, [Remove((*names, 0)), Append(names, "d"), SetValue((*names, 2), "C"), Remove((*names, 1))])
    assert yaml.safe_load(after)["test_suite_config"]["files"][0]["tests"][0]["names"] == ["C", "d"]
    assert all(f"# {word}" in after for word in ("why a", "about b", "why b", "about c"))


@pytest.mark.parametrize(
    "edit",
    [
        SetValue((*TESTS, 9, "mode"), "skip"),
        SetValue((*TESTS, 9), {}),
        SetValue((*BLOCK, "path", 0), "x"),
        Append((*BLOCK, "path"), "x"),
        Append((*BLOCK, "nothing"), "x"),
        Remove((*BLOCK, "nothing")),
        Remove(("test_suite_config", "labels", 2)),
    ],
)
def test_a_path_that_is_not_there_is_refused(edit: Edit) -> None:
    with pytest.raises(EditError, match=r"there is nothing at|is no list"):
        apply(TEXT, [edit])


def test_an_edit_through_an_alias_would_change_the_anchor_too_and_is_refused() -> None:
    with pytest.raises(EditError, match="would change other values too"):
        apply(TEXT, [Append((*TESTS, 3, "names"), "new")])


def test_a_comment_with_nowhere_to_go_is_not_lost_but_the_edit_refused() -> None:
    text = "a:\n  - b\n  - c  # why\n"
    with pytest.raises(EditError, match="would lose the comment 'why'"):
        apply(text, [Remove(("a", 1))])


@pytest.mark.parametrize("text", ["a: [", "a: !!set {b}", "a: 1\n---\nb: 2"])
def test_a_text_that_can_not_be_read_is_refused(text: str) -> None:
    with pytest.raises(EditError, match=r"^line [12]: "):
        apply(text, [SetValue(("a",), 1)])


def test_a_doubled_key_is_refused_as_ruamel_would_drop_one() -> None:
    with pytest.raises(EditError, match="by hand"):
        apply("a: 1\na: 2\nb: 3\n", [SetValue(("b",), 4)])


@pytest.mark.parametrize("offset", [0, 2, 4])
def test_the_indentation_of_lists_stays(offset: int) -> None:
    text = f"a:\n{' ' * offset}- b: 1  # one\n{' ' * offset}- b: 2\n"
    assert apply(text, [SetValue(("a", 1, "b"), 3)]) == text.replace("2", "3")


def test_line_ends_of_windows_and_a_document_start_stay() -> None:
    text = "---\r\na: 1  # one\r\nb: 2\r\n"
    assert apply(text, [SetValue(("b",), 3)]) == text.replace("2", "3")
