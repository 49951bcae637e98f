"""Text from outside does nothing in our comment: whatever it holds, it stays inside its code."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from relay.comments.neutral import block, code, cut, size

HOSTILE = [
    "@someone @org/team",
    "![x](https://evil.example/p.png)",
    "[x](https://evil.example)",
    "https://evil.example #12 a/b#3",
    "`@someone`",
    "``` @someone ```",
    "````\n@someone\n````",
    "</details><script>alert(1)</script>",
    "<!-- oot-relay: answers to /relay commands -->",
    "a\u202eb\u2066c\x00\x1b[2Jd",
    "`",
    "``",
    " ` ",
    "|a|b|",
    "",
    "\n\n",
    "half \ud83d of one",
    "# heading\n---\n> quote",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_line_is_one_piece_of_code(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"before {code(text)} after")
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert [child.type for child in tokens[1].children or []] == ["text", "code_inline", "text"]


@pytest.mark.parametrize("text", HOSTILE)
def test_lines_are_one_block(text: str) -> None:
    tokens = MarkdownIt("commonmark").parse(f"before\n\n{block(text)}\n\nafter")
    assert [token.type for token in tokens if token.level == 0] == [
        *("paragraph_open", "paragraph_close"),
        "fence",
        *("paragraph_open", "paragraph_close"),
    ]


@given(st.text(alphabet="`~ \n@<a\u202e\u00fc\U0001f600", max_size=80), st.integers(5, 60))
def test_any_text_stays_in_its_code_and_its_bytes(text: str, cap: int) -> None:
    parser = MarkdownIt("commonmark")
    (fence,) = (token for token in parser.parse(f"{block(text, cap)}") if token.level == 0)
    assert fence.type == "fence"
    assert size(fence.content) <= cap + 1
    inline = parser.parse(f"a {code(text, cap)} b")[1]
    (span,) = (child for child in inline.children or [] if child.type == "code_inline")
    assert size(span.content) <= cap


def test_what_changes_the_showing_of_the_rest_is_gone() -> None:
    assert code("a\u202eb\x1b[2Jc\x00") == "`a b [2Jc`"
    assert "\u202e" not in block("a\u202eb")


@given(st.text(alphabet="a\u00fc\u20ac\U0001f600", max_size=40), st.integers(3, 60))
def test_a_cut_counts_bytes_and_splits_no_character(text: str, cap: int) -> None:
    found = cut(text, cap)
    assert size(found) <= cap
    assert found == text or (found.endswith("\N{HORIZONTAL ELLIPSIS}") and text.startswith(found[:-1]))
