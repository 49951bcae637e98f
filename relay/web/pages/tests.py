"""The page of one test: how it did run by run, since when it fails, who answers for it; and the list that leads there.

What the record says comes from `relay.runs.histories`, what is expected of the test from the manifests in use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from relay.context import Context, RelayContext
from relay.errors import NotFoundError
from relay.manifests import ManifestSays, what_manifests_say
from relay.runs.histories import SEARCHED_RUNS, PlannedAs, find_tests, history_of, planned_as
from relay.views import TestOutcome
from relay.web import history_words, wording
from relay.web.history_api import storable
from relay.web.pages.shell import PAGES, number
from relay.web.sparkline import sparkline

_SHOWN = 60
_FOUND = 50
_ID_CAP = 1_000
_QUERY_CAP = 200

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Cell:
    """One outcome in the strip and in the table: its word, all of it in words, what it says of the branch, and where
    the run shows it."""

    outcome: TestOutcome
    word: wording.Word
    label: str
    branch: str
    address: str


@router.get("/tests")
def page_of_test(
    context: Context, test: Annotated[str, Query(alias="id")] = "", q: str = "", device: str = "", before: str = ""
) -> HTMLResponse:
    """One test by its whole id; without one, tests to choose from."""
    device = storable(device[:_ID_CAP]) or context.settings.device
    wanted = storable(test[:_ID_CAP])
    if not wanted:
        return _list(context, storable(q[:_QUERY_CAP].strip()), device)
    try:
        return _one(context, wanted, device, number(before))
    except NotFoundError:
        return _list(context, wanted.rpartition("::")[2][:_QUERY_CAP], device, unknown=wanted)


def _list(context: RelayContext, q: str, device: str, *, unknown: str = "") -> HTMLResponse:
    with context.store.reading() as session:
        found = find_tests(session, device, q, limit=_FOUND + 1)
    return PAGES.render(
        "tests.html",
        context,
        status=404 if unknown else 200,
        nav="tests",
        q=q,
        unknown=unknown,
        why=history_words.why_command(unknown, None),
        tests=[(test, wording.verdict_word(test.verdict)) for test in found[:_FOUND]],
        more=len(found) > _FOUND,
        searched=SEARCHED_RUNS,
        of_device=device,
    )


def _one(context: RelayContext, test_id: str, device: str, before: int | None) -> HTMLResponse:
    with context.store.reading() as session:
        history = history_of(session, test_id, device, limit=_SHOWN, before=before)
        planned = planned_as(session, test_id, device)
    now = context.now()
    cells = _cells(history.outcomes, now)
    line = sparkline([outcome.seconds for outcome in reversed(history.outcomes)])
    says = _says(context, test_id, planned, device)
    address: dict[str, Any] = {"id": test_id} | ({} if device == context.settings.device else {"device": device})
    return PAGES.render(
        "test_history.html",
        context,
        nav="tests",
        history=history,
        planned=planned,
        says=says,
        cells=cells,
        strip=list(reversed(cells)),
        line=line,
        durations=history_words.durations_sentence(line) if line else "",
        word=history_words.state_word(history),
        sentence=history_words.state_sentence(history, now),
        flakes=history_words.flake_sentence(history.flakes),
        why=history_words.why_command(test_id, planned.run_id if planned else None),
        owner=history_words.owner_sentence(says),
        broken_by=history_words.broken_by(history.outcomes),
        newest=_query("/tests", address) if before else "",
        older=_query("/tests", address | {"before": history.next_before}) if history.next_before else "",
        same_as_json=_query("/api/v1/tests/history", address),
    )


def _cells(outcomes: Sequence[TestOutcome], now: datetime) -> list[Cell]:
    return [
        Cell(
            outcome,
            wording.verdict_word(outcome.verdict),
            history_words.outcome_label(outcome, now),
            history_words.branch_phrase(outcome.on_branch),
            f"/runs/{outcome.run_id}{f'?verdict={outcome.verdict}' if outcome.verdict else ''}#results",
        )
        for outcome in outcomes
    ]


def _says(context: RelayContext, test_id: str, planned: PlannedAs | None, device: str) -> ManifestSays | None:
    if planned is None:
        return None
    loaded = context.manifests.current()
    return what_manifests_say(loaded, test_id, base=planned.base, op=planned.op, dtype=planned.dtype, device=device)


def _query(path: str, given: Mapping[str, Any]) -> str:
    return f"{path}?{urlencode(given, safe='/', quote_via=quote)}"
