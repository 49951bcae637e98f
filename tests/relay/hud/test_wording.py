"""Words, letters and tones of results."""

from __future__ import annotations

import pytest

from relay.hud import wording
from relay.hud.wording import Tone


@pytest.mark.parametrize(
    ("status", "conclusion", "letter"),
    [
        ("completed", "success", "O"),
        ("completed", "failure", "X"),
        ("completed", "neutral", "N"),
        ("completed", "cancelled", "C"),
        ("completed", "timed_out", "T"),
        ("completed", "skipped", "S"),
        ("queued", "", "Q"),
        ("in_progress", "", "?"),
        ("in_progress", "failure", "?"),
        ("completed", "", "~"),
        ("completed", "anything", "U"),
    ],
)
def test_each_state_has_its_letter(status: str, conclusion: str, letter: str) -> None:
    assert wording.letter(status, conclusion) == letter
    assert letter in wording.SEVERITY


@pytest.mark.parametrize(
    ("rate", "chip", "card"),
    [
        (1.0, Tone.SUCCESS, Tone.SUCCESS),
        (0.95, Tone.SUCCESS, Tone.WARNING),
        (0.949, Tone.WARNING, Tone.WARNING),
        (0.9, Tone.WARNING, Tone.WARNING),
        (0.8, Tone.WARNING, Tone.ERROR),
        (0.799, Tone.ERROR, Tone.ERROR),
    ],
)
def test_a_pass_rate_is_coloured_by_its_page(rate: float, chip: Tone, card: Tone) -> None:
    assert (wording.pass_rate_tone(rate), wording.card_pass_rate_tone(rate)) == (chip, card)


@pytest.mark.parametrize(("rate", "tone"), [(0.0, Tone.SUCCESS), (0.0099, Tone.WARNING), (0.01, Tone.ERROR)])
def test_a_share_of_timeouts_is_red_from_what_keeps_a_backend_from_l3(rate: float, tone: Tone) -> None:
    assert wording.excess_tone(rate) is tone


def test_a_share_reads_to_a_tenth() -> None:
    assert wording.percent(0.05) == "5.0 %"
