"""Stage 3: keep or defer the uncertain candidates, by a model where there is one, else by the offline ranker.

Must-run candidates pass untouched and are never offered. What is offered is the grey band between hopeless and sure,
and verdicts add to what is kept of it, raise and lower within bounds (`moving`). So a model that fails, lies or obeys
the change's author can cost time, and a few places where a budget cuts, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from selector.catalog import Catalog
from selector.change import ChangeSet
from selector.triage.answer import Opinion
from selector.triage.band import grouped
from selector.triage.budget import Budget
from selector.triage.consulting import Consultation, Consulted, Sources, consult
from selector.triage.conversation import LlmClient
from selector.triage.lexical import KEEP_AT, LexicalRanker, LexicalScore, joined_score
from selector.triage.moving import UNMOVED, Moved, moved
from selector.triage.prompt import looks_like_instructions
from selector.types import BaseTest, Candidate, Reason, Stage, StageResult

#: The joined scores of the grey band.
GREY = (0.05, 0.95)
OFFLINE = "offline ranker"


def triage(
    change: ChangeSet,
    candidates: Sequence[Candidate],
    catalog: Catalog,
    *,
    title: str = "",
    body: str = "",
    llm: LlmClient | None = None,
    sources: Sources | None = None,
    budget: Budget | None = None,
) -> StageResult:
    """Decide about every candidate. The result holds each of them once, in the order given.

    A model that can use tools gets them where there are `sources`, within the `budget`; another is asked once.
    """
    ranker = LexicalRanker(change, title, list(catalog))
    lexical = ranker.scores(candidates)
    joined = {it.test: joined_score(it, lexical[it.test]) for it in candidates if not it.must_run}
    band = [it for it in candidates if not it.must_run and GREY[0] <= joined[it.test] <= GREY[1]]
    consulted = None
    if llm is not None and band:
        groups = grouped(band, joined, KEEP_AT)
        consulted = consult(
            Consultation(llm, budget or Budget(), sources), change, groups, catalog, title=title, body=body
        )
    shift = _shift(band, joined, consulted, catalog.size)
    decided = [it if it.must_run else _decide(it, lexical[it.test], consulted, shift) for it in candidates]
    kept = tuple(candidate for candidate in decided if _is_kept(candidate))
    dropped = tuple(candidate for candidate in decided if not _is_kept(candidate))
    hostile = looks_like_instructions(change, title, body)
    return StageResult(Stage.TRIAGE, kept, dropped, tuple(_notes(consulted, shift, hostile=hostile)))


def _shift(
    band: Sequence[Candidate], joined: Mapping[BaseTest, float], consulted: Consulted | None, tests: int
) -> Moved:
    """What the verdicts do to the band; nothing without any."""
    if consulted is None or not consulted.opinions:
        return UNMOVED
    verdicts = {test: opinion.verdict for test, opinion in consulted.opinions.items()}
    return moved(band, joined, verdicts, threshold=KEEP_AT, tests=tests)


def _decide(candidate: Candidate, lexical: LexicalScore, consulted: Consulted | None, shift: Moved) -> Candidate:
    joined = joined_score(candidate, lexical)
    score = shift.scores.get(candidate.test, joined)
    opinion = consulted.opinions.get(candidate.test) if consulted is not None else None
    if consulted is not None and opinion is not None:
        share = " (beyond its share)" if candidate.test in shift.beyond else ""
        said = _said(opinion, consulted.cited(opinion))
        probability = shift.probabilities.get(candidate.test, candidate.probability)
        return replace(candidate, probability=probability).because(
            Reason(Stage.TRIAGE, f"model: {opinion.verdict}{share}", said, score)
        )
    words = f" ({', '.join(lexical.shared)})" if lexical.shared else ""
    evidence = (
        f"{joined:.2f}, kept from {KEEP_AT:.2f}: ownership {candidate.score:.2f}, words {lexical.value:.2f}{words}"
    )
    return candidate.because(Reason(Stage.TRIAGE, _offline_rule(candidate, consulted), evidence, score))


def _said(opinion: Opinion, cited: Sequence[str]) -> str:
    shown = f" [{', '.join(cited)}]" if cited else ""
    return f"{opinion.reason or 'no reason given'}{shown}"


def _offline_rule(candidate: Candidate, consulted: Consulted | None) -> str:
    if consulted is None:
        return OFFLINE
    if consulted.failure:
        return f"{OFFLINE} ({consulted.failure})"
    return f"{OFFLINE} ({'model gave no verdict' if candidate.test in consulted.offered else 'not put to the model'})"


def _is_kept(candidate: Candidate) -> bool:
    return candidate.must_run or candidate.score >= KEEP_AT


def _notes(consulted: Consulted | None, shift: Moved, *, hostile: bool) -> Iterable[str]:
    if hostile:
        yield "text of the change reads like instructions to a model; it was handled as data"
    if consulted is None:
        return
    if consulted.failure:
        yield f"{consulted.failure}; the {OFFLINE} decided instead"
    if shift.wanted and shift.asked > 1:
        yield f"the model wants {shift.wanted} of {shift.asked} files run; each wish counts {shift.worth:.2%}"
    spent = consulted.account
    if spent.calls:
        yield f"the model looked up {spent.calls} things in {spent.rounds} rounds"
    answer = consulted.answer
    if answer.unknown:
        yield f"the model named {answer.unknown} ids that were not offered; they were discarded"
    if answer.malformed:
        yield f"{answer.malformed} malformed verdicts of the model were discarded"
    if answer.invented:
        yield f"{answer.invented} pieces of evidence that the model named do not exist; they were discarded"
