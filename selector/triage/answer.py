"""The model's answer, believed only as far as it fits the question.

An answer is a set of verdicts over the ids that were offered. Anything else in it is discarded and counted; an answer
that is no such set at all is an `AnswerError`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from selector.triage.agent import UnusableError
from selector.triage.untrusted import one_line

REASON_CAP = 200
#: Pieces of evidence for one verdict.
EVIDENCE_CAP = 8
_MAX_VERDICTS = 5_000
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class Verdict(StrEnum):
    """What the model may say, the safest first."""

    RUN = "run"
    UNSURE = "unsure"
    DEFER = "defer"


class AnswerError(UnusableError):
    """The text is no answer to the question; the message can be shown to the model."""


@dataclass(frozen=True, slots=True)
class Opinion:
    """One verdict with the model's words for it, untrusted, on one line and capped. `evidence` are ids of changed files
    and of tool calls that there are."""

    verdict: Verdict
    reason: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Opinions by offered id, and how many entries were discarded: ids that were never offered, malformed ones, and
    `invented` evidence, which names no file of the change and no call that was made."""

    opinions: dict[str, Opinion]
    unknown: int = 0
    malformed: int = 0
    invented: int = 0


def read_answer(text: str, offered: Collection[str], citable: Collection[str] = ()) -> Answer:
    """Read the verdicts out of an answer. Of two verdicts about one id the safer one counts, and a test whose deferral
    rests on invented evidence alone counts as unsure."""
    entries = _entries(text)
    opinions: dict[str, Opinion] = {}
    unknown = malformed = invented = 0
    for entry in entries[:_MAX_VERDICTS]:
        opinion = _opinion(entry)
        if opinion is None:
            malformed += 1
        elif entry["id"] not in offered:
            unknown += 1
        else:
            opinion, false = _sifted(opinion, citable)
            invented += false
            opinions[entry["id"]] = _safer(opinions.get(entry["id"]), opinion)
    malformed += max(0, len(entries) - _MAX_VERDICTS)
    return Answer(opinions, unknown, malformed, invented)


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
    cited = entry.get("evidence", ())
    evidence = tuple(item for item in cited[:EVIDENCE_CAP] if isinstance(item, str)) if isinstance(cited, list) else ()
    return Opinion(Verdict(verdict), one_line(reason, REASON_CAP), evidence)


def _sifted(opinion: Opinion, citable: Collection[str]) -> tuple[Opinion, int]:
    """The opinion with the evidence that exists, and how much does not."""
    real = tuple(dict.fromkeys(item for item in opinion.evidence if item in citable))
    false = sum(item not in citable for item in opinion.evidence)
    baseless = opinion.verdict is Verdict.DEFER and false and not real
    return replace(opinion, verdict=Verdict.UNSURE if baseless else opinion.verdict, evidence=real), false


def _safer(first: Opinion | None, second: Opinion) -> Opinion:
    order = list(Verdict)
    return second if first is None or order.index(second.verdict) < order.index(first.verdict) else first
