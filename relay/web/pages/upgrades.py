"""The pages about upgrades of upstream: the reports on record, and one of them with what is to be looked at.

A report lists thousands of tests: a page shows some of one duty, narrowed by name and by cause. Nothing needs a script.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from relay.context import Context, RelayContext
from relay.errors import NotFoundError
from relay.upgrade import links
from relay.upgrade import words as report_words
from relay.upgrade.document import OriginPart
from relay.upgrade.listing import TestFilter, existing_upgrade, list_tests, list_upgrades, upgrade_view
from relay.upgrade.running import execution_view
from relay.upgrade.views import DutyWord, ExecutionView, UpgradeSummary, UpgradeTestPage, UpgradeView
from relay.web import upgrade_words as words
from relay.web.history_api import storable
from relay.web.pages.shell import PAGES, Pager, choice, number
from relay.web.pages.switches import Given, address
from relay.web.upgrade_picture import upgrade_funnel
from relay.web.wording import Word

PATH = "/upgrades"
_REPORTS = 50
_TESTS = 40
#: Of lists that go on in a fold.
_CAUSES_OPEN, _NOTES_OPEN = 12, 6
#: No row has this id.
_NO_ROW = 0
_QUERY_CAP, _CAUSE_CAP = 200, 1_000

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Tab:
    """One duty: its word, how many tests it has, and the link that shows them."""

    word: Word
    count: int
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class CauseLink:
    """A cause with its tests, and the link that shows those alone."""

    cause: str
    tests: int
    href: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A report with what came of running it, and the tests that its page shows, which is the `at`th."""

    view: UpgradeView
    ran: ExecutionView | None
    found: UpgradeTestPage
    at: int


@router.get(PATH)
def upgrades_page(context: Context, before: str = "") -> HTMLResponse:
    """The reports on record, the newest first."""
    with context.store.reading() as session:
        page, more = list_upgrades(session, context.settings.public_url, limit=_REPORTS, before=number(before))
    return PAGES.render(
        "upgrades.html",
        context,
        nav="upgrades",
        upgrades=page.upgrades,
        words=words,
        older=address(PATH, {"before": more}) if more else "",
    )


@router.get(PATH + "/{upgrade_id}")
def upgrade_page(
    context: Context, upgrade_id: str, *, duty: str = "", q: str = "", cause: str = "", page: str = ""
) -> HTMLResponse:
    """One report. Without a duty in the address, the most pressing that has tests."""
    url, text = context.settings.public_url, storable(q[:_QUERY_CAP].strip())
    try:
        with context.store.reading() as session:
            row = existing_upgrade(session, number(upgrade_id) or _NO_ROW)
            view = upgrade_view(row, url)
            ran = execution_view(session, row, url) if row.base_run_id else None
            chosen = choice(DutyWord, duty) or _most_pressing(view.upgrade)
            wanted = TestFilter(chosen, text, storable(cause[:_CAUSE_CAP]) or None)
            at = number(page) or 0
            found = list_tests(session, view.upgrade.id, wanted, limit=_TESTS, offset=at * _TESTS)
    except NotFoundError as error:
        return PAGES.render("error.html", context, status=404, nav="upgrades", heading=error.message, advice=error.hint)
    return _report(context, Shown(view, ran, found, at), wanted)


def _report(context: RelayContext, shown: Shown, wanted: TestFilter) -> HTMLResponse:
    view, found = shown.view, shown.found
    upgrade, duty = view.upgrade, wanted.duty or DutyWord.MUST
    path = f"{PATH}/{upgrade.id}"
    given: Given = {"duty": duty, "q": wanted.q, "cause": wanted.cause}
    origin = OriginPart(repository=upgrade.repository, base_commit=upgrade.base_commit, head_commit=upgrade.head_commit)
    return PAGES.render(
        "upgrade.html",
        context,
        nav="upgrades",
        view=view,
        upgrade=upgrade,
        path=path,
        duty=duty,
        wanted=wanted,
        origin=origin,
        links=links,
        words=words,
        report_words=report_words,
        funnel=upgrade_funnel(view.funnel),
        tabs=_tabs(path, upgrade, duty),
        causes=[
            CauseLink(it.cause, it.tests, address(path, given, {"cause": it.cause}, "tests")) for it in found.causes
        ],
        causes_open=_CAUSES_OPEN,
        notes_open=_NOTES_OPEN,
        without_cause=address(path, given, {"cause": None}, "tests"),
        notes=tuple(dict.fromkeys((*view.notes, *view.operators.notes))),
        ran=shown.ran,
        outcomes=shown.ran.outcomes if shown.ran else view.outcomes,
        tests=found.tests,
        total=found.total,
        pager=_pager(path, given, shown.at, found),
    )


def _most_pressing(upgrade: UpgradeSummary) -> DutyWord:
    return next((duty for duty in DutyWord if upgrade.duties.get(duty)), DutyWord.MUST)


def _tabs(path: str, upgrade: UpgradeSummary, current: DutyWord) -> list[Tab]:
    """The filter is not taken along: a cause belongs to one duty."""
    return [
        Tab(
            words.DUTY_WORDS[duty],
            upgrade.duties.get(duty, 0),
            address(path, {"duty": duty}, None, "tests"),
            duty is current,
        )
        for duty in DutyWord
    ]


def _pager(path: str, given: Given, at: int, found: UpgradeTestPage) -> Pager:
    end = at * _TESTS + len(found.tests)
    return Pager(
        min(at * _TESTS + 1, found.total),
        end,
        found.total,
        address(path, given, {"page": at - 1}, "tests") if at else "",
        address(path, given, {"page": at + 1}, "tests") if found.tests and end < found.total else "",
    )
