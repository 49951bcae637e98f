"""Stage 3: keep or defer the uncertain candidates, by a model where there is one, else by the offline ranker.

Must-run candidates pass untouched and are never offered, so a model that fails, lies or obeys the change's author can
cost time and deferrals inside the uncertain band, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from selector.catalog import Catalog
from selector.change import ChangeSet
from selector.triage.answer import Answer, AnswerError, Opinion, Verdict, read_answer
from selector.triage.client import LlmClient, LlmError
from selector.triage.lexical import KEEP_AT, LexicalRanker, LexicalScore, joined_score
from selector.triage.prompt import SCHEMA, Question, ask_about, ask_again, looks_like_instructions
from selector.types import BaseTest, Candidate, Reason, Stage, StageResult

#: Candidates in one question; the rest of the band is ranked offline.
OFFER_CAP = 120
OFFLINE = "offline ranker"


@dataclass(frozen=True)
class _Consulted:
    """What came of asking the model: its answer and question, or why there is none."""

    question: Question
    answer: Answer
    failure: str = ""

    @cached_property
    def offered(self) -> frozenset[BaseTest]:
        return frozenset(candidate.test for candidate in self.question.offered.values())


def triage(
    change: ChangeSet,
    candidates: Sequence[Candidate],
    catalog: Catalog,
    *,
    title: str = "",
    body: str = "",
    llm: LlmClient | None = None,
) -> StageResult:
    """Decide about every candidate. The result holds each of them once, in the order given."""
    ranker = LexicalRanker(change, title, list(catalog))
    scores = ranker.scores(candidates)
    band = [candidate for candidate in candidates if not candidate.must_run]
    consulted = _consult(llm, change, title, body, _most_open(band, scores)) if llm and band else None
    opinions = _opinions(consulted)
    decided = [
        candidate if candidate.must_run else _decide(candidate, scores[candidate.test], opinions, consulted)
        for candidate in candidates
    ]
    kept = tuple(candidate for candidate in decided if _is_kept(candidate))
    dropped = tuple(candidate for candidate in decided if not _is_kept(candidate))
    hostile = looks_like_instructions(change, title, body)
    return StageResult(Stage.TRIAGE, kept, dropped, tuple(_notes(consulted, hostile=hostile)))


def _most_open(band: Iterable[Candidate], scores: Mapping[BaseTest, LexicalScore]) -> list[Candidate]:
    """The candidates about which the offline ranker is least certain, best first."""
    joined = {candidate.test: joined_score(candidate, scores[candidate.test]) for candidate in band}
    nearest = sorted(band, key=lambda candidate: (abs(joined[candidate.test] - KEEP_AT), candidate.test))
    return sorted(nearest[:OFFER_CAP], key=lambda candidate: (-joined[candidate.test], candidate.test))


def _consult(llm: LlmClient, change: ChangeSet, title: str, body: str, offered: Sequence[Candidate]) -> _Consulted:
    """Ask once, and once more when the answer cannot be used."""
    question = ask_about(change, title, body, offered)
    try:
        text = llm.complete(question.messages, SCHEMA)
        try:
            return _Consulted(question, read_answer(text, question.offered))
        except AnswerError as error:
            text = llm.complete(ask_again(question, text, str(error)), SCHEMA)
            return _Consulted(question, read_answer(text, question.offered))
    except LlmError as error:
        return _Consulted(question, Answer({}), str(error))
    except AnswerError:
        return _Consulted(question, Answer({}), "model answered no usable JSON, twice")


def _opinions(consulted: _Consulted | None) -> dict[BaseTest, Opinion]:
    if consulted is None:
        return {}
    offered = consulted.question.offered
    return {offered[short_id].test: opinion for short_id, opinion in consulted.answer.opinions.items()}


def _decide(
    candidate: Candidate, lexical: LexicalScore, opinions: Mapping[BaseTest, Opinion], consulted: _Consulted | None
) -> Candidate:
    opinion = opinions.get(candidate.test)
    if opinion is not None:
        return candidate.because(_reason_of_model(candidate, opinion))
    score = joined_score(candidate, lexical)
    words = f" ({', '.join(lexical.shared)})" if lexical.shared else ""
    evidence = (
        f"{score:.2f}, kept from {KEEP_AT:.2f}: ownership {candidate.score:.2f}, words {lexical.value:.2f}{words}"
    )
    return candidate.because(Reason(Stage.TRIAGE, _offline_rule(candidate, consulted), evidence, score))


def _reason_of_model(candidate: Candidate, opinion: Opinion) -> Reason:
    """A verdict as a reason. Its score says on which side of the threshold the candidate falls."""
    score = {Verdict.RUN: 0.9, Verdict.UNSURE: max(candidate.score, KEEP_AT), Verdict.DEFER: 0.1}[opinion.verdict]
    return Reason(Stage.TRIAGE, f"model: {opinion.verdict}", opinion.reason or "no reason given", score)


def _offline_rule(candidate: Candidate, consulted: _Consulted | None) -> str:
    if consulted is None:
        return OFFLINE
    if consulted.failure:
        return f"{OFFLINE} ({consulted.failure})"
    return f"{OFFLINE} ({'model gave no verdict' if candidate.test in consulted.offered else 'not put to the model'})"


def _is_kept(candidate: Candidate) -> bool:
    return candidate.must_run or candidate.score >= KEEP_AT


def _notes(consulted: _Consulted | None, *, hostile: bool) -> Iterable[str]:
    if hostile:
        yield "text of the change reads like instructions to a model; it was handled as data"
    if consulted is None:
        return
    if consulted.failure:
        yield f"{consulted.failure}; the {OFFLINE} decided instead"
    answer = consulted.answer
    if answer.unknown:
        yield f"the model named {answer.unknown} ids that were not offered; they were discarded"
    if answer.malformed:
        yield f"{answer.malformed} malformed verdicts of the model were discarded"
