"""The saved queries by name, as `GET /api/clickhouse/<query>` answers them (5.7): the original's names, parameters and
columns, and what we add to them.

Owns which queries there are and what they take; what they compute is in the modules that they call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from relay.hud import backend_pages, figures, pull_pages, summaries
from relay.hud.errors import HudError
from relay.hud.freshness import Cadences
from relay.hud.parameters import Number, Numbers, Parameter, Text, read_parameters

Rows = list[dict[str, Any]]

_DAYS = Number(most=3_650)
_PAGE = Number(most=500, least=1, default=500)
_OFFSET = Number(default=0, most=10**9)
_SCHEDULED = Text(default=summaries.NIGHTLY)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query is answered from: the record, the moment, and how often backends are to report."""

    session: Session
    now: datetime
    cadences: Cadences = field(default_factory=Cadences)


@dataclass(frozen=True, slots=True)
class Query:
    """A saved query: what it takes, and what answers it."""

    parameters: Mapping[str, Parameter]
    answer: Callable[[Asked, Mapping[str, Any]], Rows]


def _summary(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return summaries.pull_request_summary(asked.session, now=asked.now, **given)


def _scheduled_summary(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return summaries.scheduled_summary(asked.session, now=asked.now, cadences=asked.cadences, **given)


def _success_rate(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return summaries.success_rate(asked.session, now=asked.now, **given)


def _backend_summary(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return figures.backend_summary(asked.session, now=asked.now, **given)


def _backend_dashboard(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return backend_pages.backend_dashboard(asked.session, now=asked.now, **given)


def _nightly_dashboard(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return backend_pages.nightly_dashboard(asked.session, now=asked.now, **given)


def _probe_pull_requests(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return pull_pages.probe_pull_requests(asked.session, now=asked.now, **given)


def _pull_request_results(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return pull_pages.pull_request_results(asked.session, **given)


def _grid_results(asked: Asked, given: Mapping[str, Any]) -> Rows:
    return pull_pages.grid_results(asked.session, numbers=given["prNums"])


QUERIES: Mapping[str, Query] = {
    "crcr_summary": Query({"days": _DAYS}, _summary),
    "crcr_nightly_summary": Query({"days": _DAYS, "event_type": _SCHEDULED}, _scheduled_summary),
    "crcr_success_rate": Query({"days": _DAYS, "event_type": Text()}, _success_rate),
    "crcr_backend_summary": Query({"repo": Text(), "days": _DAYS}, _backend_summary),
    "crcr_backend_dashboard": Query(
        {"repo": Text(), "days": _DAYS, "per_page": _PAGE, "offset": _OFFSET}, _backend_dashboard
    ),
    "crcr_nightly_dashboard": Query(
        {"repo": Text(), "days": _DAYS, "event_type": _SCHEDULED, "per_page": _PAGE, "offset": _OFFSET},
        _nightly_dashboard,
    ),
    "crcr_health_last_prs": Query({"count": Number(most=100)}, _probe_pull_requests),
    "crcr_pr_results": Query({"pr": Number()}, _pull_request_results),
    "crcr_hud_results": Query({"prNums": Numbers()}, _grid_results),
}


def run_query(name: str, parameters: str, asked: Asked) -> Rows:
    """The rows of a saved query; `parameters` is the JSON object that was sent.

    Raises:
        HudError: 404, there is no such query; 400, a parameter is missing or wrong.
    """
    query = QUERIES.get(name)
    if query is None:
        raise HudError(404, f"There is no such query. There are: {', '.join(QUERIES)}")
    return query.answer(asked, read_parameters(query.parameters, parameters))
