"""The model's answer, believed only as far as it fits the question.

An answer is a set of verdicts over the ids that were offered. Anything else in it is discarded and counted; an answer
that is no such set at all is an `AnswerError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

REASON_CAP = 200
_MAX_VERDICTS = 5_000
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069]+")


class Verdict(StrEnum):
    """What the model may say, the safest first."""

    RUN = "run"
    UNSURE = "unsure"
    DEFER = "defer"


class AnswerError(ValueError):
    """The text is no answer to the question; the message can be shown to the model."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One verdict with the model's words for it, untrusted, on one line and capped."""

    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """Opinions by offered id, and how many entries were discarded: ids that were never offered, and malformed ones."""

    opinions: dict[str, Opinion]
    unknown: int = 0
    malformed: int = 0


def read_answer(text: str, offered: Collection[str]) -> Answer:
    """Read the verdicts out of an answer. Of two verdicts about one id the safer one counts."""
    entries = _entries(text)
    opinions: dict[str, Opinion] = {}
    unknown = malformed = 0
    for entry in entries[:_MAX_VERDICTS]:
        opinion = _opinion(entry)
        if opinion is None:
            malformed += 1
        elif entry["id"] not in offered:
            unknown += 1
        else:
            opinions[entry["id"]] = _safer(opinions.get(entry["id"]), opinion)
    malformed += max(0, len(entries) - _MAX_VERDICTS)
    return Answer(opinions, unknown, malformed)


def _entries(text: str) -> list[Any]:
    """The list under `verdicts`. Text or code fences around the object are let pass: not every server forces JSON."""
    match = _OBJECT.search(text)
    if match is None:
        raise AnswerError("it holds no JSON object")
    try:
        document = json.loads(match.group())
    except (ValueError, RecursionError):
        raise AnswerError("it is not valid JSON") from None
    verdicts = document.get("verdicts")
    if not isinstance(verdicts, list):
        raise AnswerError('it has no list "verdicts"')
    return verdicts


def _opinion(entry: Any) -> Opinion | None:
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        return None
    verdict, reason = entry.get("verdict"), entry.get("reason", "")
    if not isinstance(verdict, str) or verdict not in set(Verdict) or not isinstance(reason, str):
        return None
    return Opinion(Verdict(verdict), _CONTROL.sub(" ", reason[: 4 * REASON_CAP]).strip()[:REASON_CAP])


def _safer(first: Opinion | None, second: Opinion) -> Opinion:
    order = list(Verdict)
    return second if first is None or order.index(second.verdict) < order.index(first.verdict) else first
