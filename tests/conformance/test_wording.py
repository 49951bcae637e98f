"""Rows UI: what a job's state is called, and how it is coloured."""

from __future__ import annotations

import pytest

from relay.hud.errors import HudError
from relay.hud.wording import Tone, conclusion_label, conclusion_tone


@pytest.mark.row("UI01")
@pytest.mark.parametrize(
    ("status", "conclusion", "tone"),
    [
        ("in_progress", "", Tone.INFO),
        ("completed", "success", Tone.SUCCESS),
        ("completed", "failure", Tone.ERROR),
        ("completed", "cancelled", Tone.WARNING),
        ("completed", "timed_out", Tone.WARNING),
        ("completed", "stale", Tone.DEFAULT),
    ],
)
def test_each_state_has_its_colour(status: str, conclusion: str, tone: Tone) -> None:
    assert conclusion_tone(status, conclusion) is tone


@pytest.mark.row("UI02")
@pytest.mark.parametrize(
    ("status", "conclusion", "label"),
    [("in_progress", "", "running"), ("completed", "success", "success"), ("completed", "", "completed")],
)
def test_each_state_has_its_name(status: str, conclusion: str, label: str) -> None:
    assert conclusion_label(status, conclusion) == label


@pytest.mark.row("UI03")
def test_a_refusal_carries_a_status_and_a_sentence() -> None:
    error = HudError(413, "Payload exceeds 2MB limit")
    assert (error.status, error.message, str(error)) == (413, "Payload exceeds 2MB limit", "Payload exceeds 2MB limit")
