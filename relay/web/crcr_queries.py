"""What readers of results ask, by the original's own addresses: saved queries, the allowlist, titles, levels (5.7).

Routes only, open to everybody who can reach the service; what they answer is made in `relay.hud`. Errors are
`{"error": ...}`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Annotated, Any

import structlog
from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse

from relay.allowlist.types import Allowlist, Level
from relay.context import Context, RelayContext
from relay.github.types import GitHubError
from relay.hud.errors import HudError
from relay.hud.freshness import Cadences
from relay.hud.levels import as_answer, level_statuses
from relay.hud.queries import Asked, run_query
from relay.hud.titles import Title, TitleBook, check_asked, read_commits, read_pulls
from relay.parts import AllowlistUnavailableError, GitHub, LoadedAllowlist
from relay.web.protocol_words import ALLOWLIST_ANSWERS, LEVEL_STATUS_ANSWERS, QUERY_ANSWERS, titles_answers

_log = structlog.get_logger(__name__)

_SENT_CAP = 20_000
_PULLS_KEPT = timedelta(seconds=300)
_COMMITS_KEPT = timedelta(seconds=86_400)

router = APIRouter(prefix="/api", tags=["results"])


@dataclass
class _Memory:
    """What one application remembers between requests."""

    pulls: TitleBook = field(default_factory=lambda: TitleBook(_PULLS_KEPT))
    commits: TitleBook = field(default_factory=lambda: TitleBook(_COMMITS_KEPT))
    allowlist_read_at: datetime | None = None


def _memory(request: Request) -> _Memory:
    state = request.app.state
    if not hasattr(state, "crcr_queries"):
        state.crcr_queries = _Memory()
    memory = state.crcr_queries
    if not isinstance(memory, _Memory):
        raise TypeError("app.state.crcr_queries belongs to this module")
    return memory


Memory = Annotated[_Memory, Depends(_memory)]
QueryName = Annotated[str, Path(max_length=100, description="The query's name, as an unknown one's answer lists them")]
Parameters = Annotated[
    str, Query(max_length=_SENT_CAP, description="A JSON object", examples=['{"repo":"acme/torch-acme","days":7}'])
]
Upstream = Annotated[
    str,
    Query(
        max_length=_SENT_CAP,
        description="The upstream repository; no other is answered for",
        examples=["pytorch/pytorch"],
    ),
]
Pulls = Annotated[
    str, Query(max_length=_SENT_CAP, description="Numbers, comma-separated, at most 50", examples=["4711,4712"])
]
Commits = Annotated[
    str, Query(max_length=_SENT_CAP, description="Commits, comma-separated, at most 50", examples=["1f" * 20])
]
_PULL_ANSWERS = titles_answers(
    {"prNumber": 4711, "title": "Add in fewer steps", "author": "ann"}, "prs", "Failed to fetch PR info"
)
_COMMIT_ANSWERS = titles_answers(
    {"sha": "1f" * 20, "title": "Add in fewer steps (#4711)", "author": "ann"}, "shas", "Failed to fetch commit info"
)


@router.get("/clickhouse/{query}", summary="Answer a saved query", responses=QUERY_ANSWERS)
def saved_query(context: Context, query: QueryName, parameters: Parameters = "{}") -> JSONResponse:
    """`parameters` is a JSON object. The rows are a list of objects."""
    cadences = Cadences.read(context.settings.crcr_cadences)
    with context.store.reading() as session:
        return JSONResponse(run_query(query, parameters, Asked(session, context.now(), cadences)))


@router.get("/crcr/allowlist", summary="The allowlist in force, by level", responses=ALLOWLIST_ANSWERS)
def allowlist(context: Context, memory: Memory) -> JSONResponse:
    """`X-Cache` is `MISS` when it was just read, `STALE` when a newer one could not be, `HIT` otherwise."""
    asked_at = context.now()
    loaded = _allowlist(context)
    state = _cache_state(loaded, asked_at, memory)
    return JSONResponse(_by_level(loaded.allowlist), headers={"X-Cache": state})


@router.get("/crcr/level-status", summary="Which backends should change their level", responses=LEVEL_STATUS_ANSWERS)
def level_status(context: Context) -> JSONResponse:
    """The figures of all backends of L2 and L3 against the targets of L3."""
    listed = _allowlist(context).allowlist
    with context.store.reading() as session:
        return JSONResponse(as_answer(level_statuses(session, listed.backends, context.now())))


@router.get("/crcr/pr-info", summary="Titles and authors of pull requests", responses=_PULL_ANSWERS)
def pull_request_info(context: Context, memory: Memory, repo: Upstream = "", prs: Pulls = "") -> JSONResponse:
    """Of those that exist, from GitHub or from what was asked there lately."""
    check_asked(repo, prs, "prs", context.settings.upstream_repo)

    def ask(github: GitHub, missing: Sequence[str]) -> Mapping[str, Title]:
        return github.titles(context.settings.upstream_repo, [int(number) for number in missing], [])

    found = _titles(context, memory.pulls, read_pulls(prs), ask, "Failed to fetch PR info")
    rows = [{"prNumber": int(number), "title": title, "author": author} for number, (title, author) in found.items()]
    return JSONResponse(rows, headers={"Cache-Control": "s-maxage=300, stale-while-revalidate=600"})


@router.get("/crcr/commit-info", summary="Titles and authors of commits", responses=_COMMIT_ANSWERS)
def commit_info(context: Context, memory: Memory, repo: Upstream = "", shas: Commits = "") -> JSONResponse:
    """Of those commits that exist, from GitHub or from what was asked there lately."""
    check_asked(repo, shas, "shas", context.settings.upstream_repo)

    def ask(github: GitHub, missing: Sequence[str]) -> Mapping[str, Title]:
        return github.titles(context.settings.upstream_repo, [], missing)

    found = _titles(context, memory.commits, read_commits(shas), ask, "Failed to fetch commit info")
    rows = [{"sha": sha, "title": title, "author": author} for sha, (title, author) in found.items()]
    return JSONResponse(rows, headers={"Cache-Control": "s-maxage=86400, stale-while-revalidate=3600"})


def _titles(
    context: RelayContext,
    book: TitleBook,
    wanted: Sequence[str],
    ask: Callable[[GitHub, Sequence[str]], Mapping[str, Title]],
    sentence: str,
) -> dict[str, Title]:
    github = context.crcr.github if context.crcr else None
    if github is None:
        raise HudError(500, f"{sentence}: this relay acts as no GitHub App")
    try:
        return book.titles(wanted, lambda missing: ask(github, missing), context.now())
    except GitHubError as error:
        _log.warning("titles_not_fetched", status=error.status)
        raise HudError(500, sentence) from error


def _allowlist(context: RelayContext) -> LoadedAllowlist:
    if context.crcr is None:
        raise HudError(502, "This relay reads no allowlist; RELAY_ALLOWLIST_URL names one")
    try:
        return context.crcr.allowlist.current()
    except AllowlistUnavailableError as error:
        raise HudError(502, str(error)) from error


def _cache_state(loaded: LoadedAllowlist, asked_at: datetime, memory: _Memory) -> str:
    if loaded.problem:
        return "STALE"
    just_read = loaded.read_at >= asked_at and loaded.read_at != memory.allowlist_read_at
    memory.allowlist_read_at = loaded.read_at
    return "MISS" if just_read else "HIT"


def _by_level(listed: Allowlist) -> dict[str, list[dict[str, Any]]]:
    answer: dict[str, list[dict[str, Any]]] = {level.name: [] for level in Level}
    for backend in listed.backends:
        entry = {"repo": backend.repo, "oncalls": list(backend.oncalls), "events": sorted(backend.events)}
        answer[backend.level.name].append(entry | ({"device": backend.device} if backend.device else {}))
    return answer
