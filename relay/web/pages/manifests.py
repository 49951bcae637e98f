"""The page *Manifests*: what is loaded, what is wrong with it, which excuses run out, and what could be required."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlencode

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context
from relay.manifest_views import ManifestFinding
from relay.web import manifests_words as words
from relay.web.manifests_api import load_manifests_view
from relay.web.pages.shell import PAGES, Pager, number
from relay.web.wording import Word

#: Excuses that run out within so many days are shown; the first is what an address that asks for none gets.
SPANS = (30, 90, 365)
_FINDINGS = 100
_QUERY_CAP = 200

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@router.get("/manifests")
def manifests_page(
    context: Context, *, device: str = "", q: str = "", severity: str = "", within: str = "", page: str = ""
) -> HTMLResponse:
    """`q` is a part of a file's name or a rule; `severity` and `within` (days) narrow their lists."""
    backend = context.backend_of(device) or context.backends[0]
    wanted = q[:_QUERY_CAP].strip()
    chosen = severity if severity in words.SEVERITY_WORDS else ""
    asked = number(within)
    span = asked if asked in SPANS else SPANS[0]
    view = load_manifests_view(context, backend)
    matching = [one for one in view.findings if _mentions(wanted, one.file, one.rule)]
    shown = [one for one in matching if not chosen or one.severity == chosen]
    at = min(number(page) or 0, max(0, len(shown) - 1) // _FINDINGS)
    on = "" if backend is context.backends[0] else backend.device
    given = {"device": on, "q": wanted, "severity": chosen, "within": span if span != SPANS[0] else ""}
    return PAGES.render(
        "manifests.html",
        context,
        nav="manifests",
        view=view,
        devices=context.devices,
        words=words,
        q=wanted,
        severity=chosen,
        severities=_severities(matching),
        findings=shown[at * _FINDINGS : (at + 1) * _FINDINGS],
        pager=_pager(len(shown), at, given),
        blocks=[block for block in view.blocks if _mentions(wanted, block.place, block.file)],
        expiring=[entry for entry in view.expiring if entry.days_left <= span and _mentions(wanted, entry.place)],
        within=span,
        spans=SPANS,
        command=words.promote_command(view.promotions.from_runs),
    )


def _mentions(wanted: str, *texts: str) -> bool:
    return any(wanted.casefold() in text.casefold() for text in texts)


def _severities(findings: Sequence[ManifestFinding]) -> list[tuple[str, Word, int]]:
    counts = Counter(one.severity for one in findings)
    return [(name, word, counts[name]) for name, word in words.SEVERITY_WORDS.items()]


def _pager(total: int, at: int, given: dict[str, str | int]) -> Pager:
    def address(page: int) -> str:
        values = {key: value for key, value in (given | {"page": page}).items() if value}
        return f"/manifests{'?' if values else ''}{urlencode(values)}#findings"

    end = min((at + 1) * _FINDINGS, total)
    previous = address(at - 1) if at else ""
    return Pager(min(at * _FINDINGS + 1, total), end, total, previous, address(at + 1) if end < total else "")
