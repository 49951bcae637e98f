"""Upstream's lists of sources and tests are read as upstream means them, and nothing in them can hurt."""

from __future__ import annotations

import time

import pytest

from selector.catalog.groups import PathGroup, read_groups
from tests.selector.upstream import MemoryTree

LABELS = ".github/labeler.yml"
RULES = ".github/merge_rules.yaml"


def labels(text: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(group.name, group.globs) for group in read_groups(MemoryTree({LABELS: text}))]


def test_labels_and_merge_rules_are_groups_in_order() -> None:
    tree = MemoryTree(
        {
            LABELS: '"module: x":\n- torch/x/**\n- test/x/**\n',
            RULES: "- name: Linear Algebra\n  patterns:\n  - torch/linalg/**\n  approved_by: [a]\n",
            ".github/merge_rules.json": '[{"name": "Old", "patterns": ["torch/old/**"]}]',
        }
    )
    assert read_groups(tree) == (
        PathGroup("module: x", LABELS, ("torch/x/**", "test/x/**")),
        PathGroup("Linear Algebra", RULES, ("torch/linalg/**",)),
        PathGroup("Old", ".github/merge_rules.json", ("torch/old/**",)),
    )


def test_a_newer_labeler_nests_the_globs() -> None:
    text = '"a":\n- changed-files:\n  - any-glob-to-any-file: ["torch/a/**", test/test_a.py]\n'
    assert labels(text) == [("a", ("torch/a/**", "test/test_a.py"))]


@pytest.mark.parametrize("everything", ["'*'", "'**'", "'**/*'", "'.*'"])
def test_a_group_of_everything_says_nothing(everything: str) -> None:
    assert labels(f"a: [{everything}, torch/a.py]\nb: [torch/b.py]\n") == [("b", ("torch/b.py",))]


@pytest.mark.parametrize(
    "text",
    ["", "a", "[1, 2]", "a: 1", "a: [", "- {patterns: 3}", "- just words", "a: !!python/object:os.system []", "\x00"],
)
def test_what_is_not_understood_is_left_out(text: str) -> None:
    tree = MemoryTree({LABELS: text, RULES: text})
    assert read_groups(tree) == ()


def test_lists_that_are_too_much_are_cut() -> None:
    many = "".join(f"label{number}:\n- torch/{number}/**\n" for number in range(1_000))
    assert len(labels(many)) == 300
    assert labels("a: [" + "torch/x, " * 100_000 + "]") == []
    assert len(labels("a: [" + ", ".join(f"torch/{number}" for number in range(1_000)) + "]")[0][1]) == 200
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    assert len(labels(bomb)) <= 300
    empty = "a0: &a0 []\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 50)}]\n" for n in range(1, 12))
    assert labels(empty) == []


def test_a_glob_of_many_wildcards_is_left_out_and_long_runs_are_one() -> None:
    assert labels("a: ['" + "*a" * 20 + "']") == []
    group = PathGroup("a", LABELS, ("torch/****x****y",))
    began = time.process_time()
    assert not group.has("torch/" + "x" * 4_000)
    assert group.has("torch/a/x/b/y")
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("torch/**", "torch/a/b.py", True),
        ("torch/*", "torch/a.py", True),
        ("torch/*", "torch/a/b.py", False),
        ("aten/src/ATen/native/**LinearAlgebra*", "aten/src/ATen/native/cuda/LinearAlgebra.cpp", True),
        ("torch/a?.py", "torch/ab.py", True),
        ("torch/a?.py", "torch/a/.py", False),
        ("torch/a.py", "torch/aXpy", False),
        ("torch/a", "torch/ab", False),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert PathGroup("a", LABELS, (glob,)).has(path) is expected
