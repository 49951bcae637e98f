"""A test file is taken apart as it is written."""

from __future__ import annotations

import pytest

from selector.catalog.outline import read_outline
from selector.source import words


def test_owners_come_from_the_header_line() -> None:
    text = '#!/usr/bin/env python\n# Owner(s): ["module: nn", "oncall: jit"]\nimport torch\n'
    assert read_outline("test/test_x.py", text).owners == ("module: nn", "oncall: jit")


@pytest.mark.parametrize("line", ["# Owner(s): [oops", "# Owner(s): [1, {}]", "x = 1", '# Owner(s): ["a"' + "]" * 9])
def test_a_broken_header_has_no_owners(line: str) -> None:
    assert read_outline("test/test_x.py", line).owners == ()


def test_imports_are_dotted_names_with_what_is_taken_from_them() -> None:
    text = (
        "import torch.nn as nn, os\n"
        "from torch.nn.utils import (  # several\n    parametrize as p,\n    prune,\n)\n"
        "def test_a():\n    from torch.fx import Node\n"
    )
    outline = read_outline("test/test_x.py", text)
    assert outline.imports == {
        "torch.nn", "os", "torch.nn.utils", "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.fx",
        "torch.fx.Node",
    }  # fmt: skip
    assert outline.imported["p"] == ("torch.nn.utils", "parametrize")


def test_relative_imports_are_resolved_from_the_root() -> None:
    outline = read_outline("test/inductor/test_x.py", "from .common import check\nfrom .. import other\n")
    assert {"test.inductor.common", "test.inductor.common.check", "test.other"} <= outline.imports


def test_dotted_names_of_torch_count_as_uses_with_their_prefixes() -> None:
    outline = read_outline("test/test_x.py", "x = torch.linalg.solve(a)\n")
    assert outline.uses == {"torch.linalg", "torch.linalg.solve"}


def test_tests_inside_conditions_are_found() -> None:
    text = (
        "try:\n    import a\nexcept ImportError:\n    def test_fallback(): pass\n"
        "if X:\n    class TestA(TestCase):\n        if Y:\n            @ops(db)\n"
        "            def test_deep(self): pass\n"
    )
    outline = read_outline("test/test_x.py", text)
    assert "test_fallback" in outline.functions
    assert outline.classes["TestA"].methods["test_deep"].decoration.names == {"ops", "db"}


def test_a_file_that_does_not_parse_keeps_its_words_and_imports() -> None:
    outline = read_outline("test/test_x.py", "import torch.fx\ndef test_a(:\n    unravel_index\n")
    assert (outline.parsed, outline.classes) == (False, {})
    assert "unravel_index" in outline.words
    assert "torch.fx" in outline.imports


def test_words_of_a_file_are_those_of_its_parts_each_read_once() -> None:
    text = (
        "import os\n@mark('one')\ndef test_a():\n    two\n\nthree = 3\nclass TestA:\n    four = 4\n"
        "    def helper(self):\n        five\n    six = 6\n"
    )
    outline = read_outline("test/test_x.py", text)
    assert outline.words == words(text)
    assert outline.loose == {"import", "os", "three"}
    assert outline.classes["TestA"].loose == {"class", "TestA", "four", "six"}
    assert outline.classes["TestA"].words == {"class", "TestA", "four", "six", "def", "helper", "self", "five"}


def test_words_of_a_definition_that_another_replaces_are_kept() -> None:
    text = "if X:\n    def f(): first\nelse:\n    def f(): second\nclass A: old\nclass A:\n    def m(s): new\n"
    outline = read_outline("test/test_x.py", text)
    assert outline.words == words(text)
    assert "first" not in outline.functions["f"].words


def test_a_chain_of_conditions_longer_than_our_stack_is_read() -> None:
    text = "if a:\n    pass\n" + "elif a:\n    pass\n" * 900 + "else:\n    def test_last(): pass\n"
    assert "test_last" in read_outline("test/test_x.py", text).functions


@pytest.mark.parametrize("text", ["x = mytorch.nn.functional\n", "x = torchvision.ops\n"])
def test_names_that_merely_contain_torch_are_no_uses(text: str) -> None:
    assert read_outline("test/test_x.py", text).uses == frozenset()
