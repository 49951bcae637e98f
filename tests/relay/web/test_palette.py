"""The sheet's colours: what is read stands out from what it is read on, light and dark (WCAG 2.2, 1.4.3 and 1.4.11).

A browser's checks see the words that are there; these are the promises for all that will be.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import pytest

import relay.web

_SHEET = (Path(relay.web.__file__).parent / "static" / "relay.css").read_text("utf-8")
_TONES = ("good", "bad", "warn", "busy", "quiet")
_GROUNDS = ("page", "card", "code-back")
#: Text in 4.5 to 1: words on every ground, links too; each tone on its own back, on a card and on the page.
WORDS = [
    *product(("ink", "soft", "link"), _GROUNDS),
    *((tone, f"{tone}-back") for tone in _TONES),
    *product(_TONES, _GROUNDS),
]
#: What is no text in 3 to 1: the ring of the focus, bars and lines of charts, the border of a field.
SHAPES = [*product(("accent", "soft", *_TONES), ("page", "card")), ("accent", "quiet-back")]


def colours(scheme: str) -> dict[str, str]:
    """The variables of a scheme: `{"ink": "#1a1f27", ...}`."""
    light, _, rest = _SHEET.partition("@media (prefers-color-scheme: dark)")
    block = light if scheme == "light" else rest.partition("}\n}")[0]
    return dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", block))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    brighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (brighter + 0.05) / (darker + 0.05)


def test_black_on_white_is_21_to_1() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_and_shapes_stand_out(scheme: str) -> None:
    found = colours(scheme)
    wanted = [(pair, 4.5) for pair in WORDS] + [(pair, 3.0) for pair in SHAPES]
    weak = {
        f"{front} on {back}: {contrast(found[front], found[back]):.2f}"
        for (front, back), least in wanted
        if contrast(found[front], found[back]) < least
    }
    assert weak == set()


def test_both_schemes_name_the_same_colours() -> None:
    assert colours("dark").keys() == colours("light").keys() != set()


def test_a_colour_is_written_once() -> None:
    """Elsewhere the sheet uses names, so that both schemes follow."""
    _, _, rules = _SHEET.partition("}\n}")
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[^{}]*;)", rules) == []
