"""How a job's state and a rate are called and coloured on every page that shows results (5.1, 5.2).

Pure. Owns words, letters and tones; a page maps a tone to a colour.
"""

from __future__ import annotations

from enum import StrEnum

from relay.hud.extract import COMPLETED, IN_PROGRESS


class Tone(StrEnum):
    """What a colour says."""

    INFO = "info"
    SUCCESS = "success"
    ERROR = "error"
    WARNING = "warning"
    DEFAULT = "default"


_TONES = {
    "success": Tone.SUCCESS,
    "failure": Tone.ERROR,
    "cancelled": Tone.WARNING,
    "timed_out": Tone.WARNING,
}

_LETTERS = {
    "success": "O",
    "failure": "X",
    "neutral": "N",
    "cancelled": "C",
    "timed_out": "T",
    "skipped": "S",
    "": "~",
}
PENDING_LETTER = "?"
_QUEUED_LETTER = "Q"
_OTHER_LETTER = "U"

#: Worst first: what a cell shows that stands for several jobs.
SEVERITY = ("X", "T", "C", PENDING_LETTER, _QUEUED_LETTER, _OTHER_LETTER, "~", "O", "N", "S")

#: Above the second, what the summary shows is good; above the first it is passable.
_CHIP = (0.80, 0.95)
#: The page of one backend is stricter: only all is good.
_CARD = (0.90, 1.0)
#: From this share of timeouts or overruns on a backend cannot be at L3.
_TOO_MANY = 0.01


def conclusion_tone(status: str, conclusion: str) -> Tone:
    """The colour of a job."""
    return Tone.INFO if status == IN_PROGRESS else _TONES.get(conclusion, Tone.DEFAULT)


def conclusion_label(status: str, conclusion: str) -> str:
    """What a job's state is called."""
    return "running" if status == IN_PROGRESS else conclusion or status


def letter(status: str, conclusion: str) -> str:
    """The letter of a job in a matrix."""
    if status == "queued":
        return _QUEUED_LETTER
    return _LETTERS.get(conclusion, _OTHER_LETTER) if status == COMPLETED else PENDING_LETTER


def pass_rate_tone(rate: float) -> Tone:
    """The colour of a pass rate in the summary of all backends."""
    return _rated(rate, *_CHIP)


def card_pass_rate_tone(rate: float) -> Tone:
    """The colour of the pass rate on a backend's own page."""
    return _rated(rate, *_CARD)


def _rated(rate: float, passable: float, good: float) -> Tone:
    if rate >= good:
        return Tone.SUCCESS
    return Tone.WARNING if rate >= passable else Tone.ERROR


def excess_tone(rate: float) -> Tone:
    """The colour of a share of jobs that timed out or overran."""
    if rate >= _TOO_MANY:
        return Tone.ERROR
    return Tone.WARNING if rate > 0 else Tone.SUCCESS


def percent(rate: float) -> str:
    """A share for people, to a tenth."""
    return f"{rate * 100:.1f} %"
