"""Hostile and odd source text is read without harm."""

from __future__ import annotations

import pytest

from selector.source import parse_module, source_lines, words


@pytest.mark.parametrize(
    "text",
    ["def f(:", "x = '\0'", "(" * 5_000, "print 'old'", "-" * 100_000 + "1"],
    ids=["syntax", "nul", "deep", "py2", "unary"],
)
def test_text_that_is_no_python_parses_to_none(text: str) -> None:
    assert parse_module(text) is None


def test_invalid_escapes_of_upstream_are_no_warning_of_ours() -> None:
    assert parse_module(r"x = '\d'") is not None


def test_words_come_from_names_and_strings_but_not_from_comments() -> None:
    text = "torch.addmm(x)  # comment says nothing\ny = 'linalg.solve # not a comment' + '''block'''"
    assert words(text) == {"torch", "addmm", "x", "y", "linalg", "solve", "not", "a", "comment", "block"}


def test_an_unclosed_string_ends_nowhere_else() -> None:
    assert {"first", "second"} <= words("first = 'open\nsecond = 1")


def test_lines_are_counted_as_the_parser_counts_them() -> None:
    text = "a = 1\x0c\r\ndef f():\r    pass\n"
    module = parse_module(text)
    assert module is not None
    assert source_lines(text)[module.body[1].lineno - 1] == "def f():"
