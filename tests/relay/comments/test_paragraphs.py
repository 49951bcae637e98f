"""Only what a comment itself says is a command: not what it shows as code, quotes, lists or hides."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.comments.paragraphs import TEXT_CAP, said_lines

SAID = [
    "/relay test",
    "thanks!\n/relay test\nsee above",
    "   /relay test",
    "/RELAY test",
    "before\n\n/relay test\n\nafter",
    "/relay test\r\nmore",
    "/relay test\n-- \nmy signature",
    "/relay test\n===",
    "> quoted\n\n/relay test",
    "```\n/relay cancel\n```\n/relay test",
    "<!-- /relay cancel -->\n\n/relay test",
    "- a list\n\nthen\n/relay test",
]
NOT_SAID = [
    "",
    "say /relay test",
    "    /relay test",
    "\t/relay test",
    "```\n/relay test\n```",
    "~~~text\n/relay test\n~~~",
    "````\n```\n/relay test\n````",
    "```\nnever closed\n/relay test",
    "`/relay test`",
    "`a\n/relay test\nb`",
    "> /relay test",
    ">quoted\n/relay test",
    "> > /relay test",
    "- /relay test",
    "1. one\n   /relay test",
    "# /relay test",
    "<!-- \n/relay test\n-->",
    "x <!-- \n/relay test\n--> y",
    "<!-- never closed\n\n/relay test",
    "<pre>\n/relay test\n</pre>",
    "<pre>\n\n/relay test\n</pre>",
    "<details>\n/relay test\n</details>",
    "<b>\n/relay test",
    "`code` /relay test",
    "<i></i>/relay test",
]


@pytest.mark.parametrize("text", SAID)
def test_a_line_of_a_paragraph_is_said(text: str) -> None:
    assert [line.lower() for line in said_lines(text, "/relay")] == ["/relay test"]


@pytest.mark.parametrize("text", NOT_SAID)
def test_what_is_shown_otherwise_is_not_said(text: str) -> None:
    assert said_lines(text, "/relay") == ()


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("/relay why `test_a__b`", "/relay why test_a__b"),
        ("/relay why `` a`b ``", "/relay why a`b"),
        (r"/relay why test\_a", "/relay why test_a"),
        ("/relay why __init__ *a* [b](c)", "/relay why __init__ *a* [b](c)"),
        ("/relay why a&amp;b", "/relay why a&b"),
        ("/relay why a <!-- note -->", "/relay why a "),
    ],
)
def test_names_may_be_marked_up(line: str, meant: str) -> None:
    """Underscores are many in names of tests, so people put them into code, and nothing else decorates."""
    assert said_lines(line, "/relay") == (meant,)


HOSTILE = {
    "quotes": ">" * TEXT_CAP,
    "ticks": "`" * TEXT_CAP,
    "growing ticks": "".join("`" * count + " " for count in range(1, 350)),
    "tags": "<" * TEXT_CAP,
    "comments": "x <!-- " * 9_000,
    "declarations": "<!A " * 16_000,
    "brackets": "[" * TEXT_CAP,
    "lists": "1. a\n" * 12_000,
    "nested": "".join("  " * depth + "- a\n" for depth in range(250)),
    "paragraphs": "a\n\n" * 21_000,
    "fences": "```\n" * 16_000,
    "entities": "&" * TEXT_CAP,
    "commands": "/relay test\n" * 5_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_comment_takes_long(text: str) -> None:
    """Of the longest that GitHub takes. Measured on this thread's own time, since the machine may be busy."""
    begun = time.thread_time()
    said_lines(f"/relay test\n\n{text}", "/relay")
    assert time.thread_time() - begun < 5


@given(st.text(alphabet=" \t\n`~>#-<!*_/[]&\\1.relay", max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    """And a line that is said begins as it must."""
    assert all(line.casefold().startswith("/r") for line in said_lines(text, "/r"))
