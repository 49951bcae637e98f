"""The page of a change, a pull request or a commit: is it broken, is it mine, why was this test run, what do I do now.

What each test says about the change comes from `relay.runs.changes`, what other backends say from `relay.hud`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from relay.change_views import ChangeGroup
from relay.context import Context, RelayContext
from relay.hud.pull_pages import commit_results, pull_request_results
from relay.hud.pull_section import BackendBox, backend_boxes
from relay.runs.base_comparison import compare_with_base
from relay.runs.changes import (
    RUNS,
    SHORTEST_SHA,
    SHOWN,
    Answer,
    Change,
    answer_of,
    change_of_commit,
    change_of_pull,
    count_groups,
    current,
    glimpse_groups,
    page_of_group,
)
from relay.runs.device_verdicts import on_devices
from relay.runs.listings import Considered, load_considered
from relay.runs.queries import last_event_id, summaries
from relay.runs.states import FINAL_RUN_STATES
from relay.views import RunSummary, TestView
from relay.web import change_words, wording
from relay.web.history_api import storable
from relay.web.pages.change_devices import change_shown, devices_shown
from relay.web.pages.shell import PAGES, Pager, choice, number

_GLIMPSE = 50
_TESTS = 100
_LEFT_OUT = 50
_QUERY_CAP = 200
_REPO_CAP = 200
_DEVICE_CAP = 100
_SHA = re.compile(rf"[0-9a-f]{{{SHORTEST_SHA},40}}")

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the address of a change's page asks for, beside the change. `after` is the key of a page of one group; pages
    of tests left out count from 0."""

    path: str
    repo: str
    device: str
    group: ChangeGroup | None
    after: int
    q: str
    left_page: int
    held_page: int

    def address(self, fragment: str, **changes: str | int) -> str:
        """This page with some parameters changed, without those at their usual value."""
        values: dict[str, str | int] = {
            "repo": self.repo,
            "device": self.device,
            "group": self.group or "",
            "after": self.after,
            "q": self.q,
            "left": self.left_page,
            "held": self.held_page,
        }
        given = {key: value for key, value in (values | changes).items() if value}
        return f"{self.path}{'?' if given else ''}{urlencode(given, safe='/', quote_via=quote)}#{fragment}"

    def pager(self, parameter: str, page: int, total: int) -> Pager:
        """The place of `page` among the tests left out, and its neighbours."""
        first, end = page * _LEFT_OUT, min((page + 1) * _LEFT_OUT, total)
        previous = self.address("left-out", **{parameter: page - 1}) if page else ""
        following = self.address("left-out", **{parameter: page + 1}) if end < total else ""
        return Pager(min(first + 1, total), end, total, previous, following)


@dataclass(frozen=True, slots=True)
class Group:
    """Tests that say the same about the change. `urgent` ones are shown open; `more` is the address of all of them, or
    of the next page."""

    name: ChangeGroup
    word: wording.Word
    urgent: bool
    tests: tuple[TestView, ...]
    total: int
    more: str


@dataclass(frozen=True, slots=True)
class Given:
    """The parameters of the address as they were sent."""

    repo: str = ""
    device: str = ""
    group: str = ""
    after: str = ""
    q: str = ""
    left: str = ""
    held: str = ""

    def at(self, path: str) -> Wanted:
        """What they ask for; odd ones are taken as not given."""
        pages = [number(text) or 0 for text in (self.after, self.left, self.held)]
        text = storable(self.q[:_QUERY_CAP].strip())
        place = (path, storable(self.repo[:_REPO_CAP]), storable(self.device[:_DEVICE_CAP]))
        return Wanted(*place, choice(ChangeGroup, self.group), pages[0], text, *pages[1:])


Sent = Annotated[Given, Depends(Given)]


@router.get("/pulls/{pull}")
def pull_page(context: Context, given: Sent, pull: str) -> HTMLResponse:
    """A pull request by its number, of the upstream repository unless the address names another."""
    found = number(pull)
    settings = context.settings
    wanted = given.at(f"/pulls/{found}")
    with context.store.reading() as session:
        if found is None:
            return _unknown(context, f"There is no pull request {pull[:20]}")
        usually = settings.upstream_repo
        on = on_devices(
            context.devices, lambda device: change_of_pull(session, found, device, repo=wanted.repo, usually=usually)
        )
        change = change_shown(on, wanted.device)
        repo = change.repo if change else wanted.repo or usually
        rows = pull_request_results(session, pr=found) if repo.lower() == usually.lower() else []
        if change is None and not rows:
            return _unknown(context, f"No run of pull request {found} is on record")
        values = _values(session, context, change, wanted) | devices_shown(
            session, context, on, wanted.device, wanted.address
        )
    heading = {"name": f"#{found}", "pull": found, "sha": "", "repo": repo}
    return _page(context, wanted, values | heading, backend_boxes(rows))


@router.get("/commits/{sha}")
def commit_page(context: Context, given: Sent, sha: str) -> HTMLResponse:
    """A commit by its name, or by seven characters of it or more."""
    name = sha.lower()
    if not _SHA.fullmatch(name):
        return _unknown(
            context, f"{sha[:50]} is no commit", f"Give its name, or {SHORTEST_SHA} characters or more of it."
        )
    settings = context.settings
    with context.store.reading() as session:
        on = on_devices(context.devices, lambda device: change_of_commit(session, name, device))
        change = change_shown(on, storable(given.device))
        full = change.heads[0].sha if change else name
        wanted = given.at(f"/commits/{full}")
        rows = commit_results(session, sha=full)
        if change is None and not rows:
            return _unknown(context, f"No run of commit {name[:12]} is on record")
        values = _values(session, context, change, wanted) | devices_shown(
            session, context, on, wanted.device, wanted.address
        )
    repo = change.repo if change else settings.upstream_repo
    heading = {"name": full[:10], "pull": change.runs[0].pr_number if change else None, "sha": full, "repo": repo}
    return _page(context, wanted, values | heading, backend_boxes(rows))


def _page(
    context: RelayContext, wanted: Wanted, values: Mapping[str, Any], boxes: tuple[BackendBox, ...]
) -> HTMLResponse:
    return PAGES.render(
        "change.html", context, nav="", wanted=wanted, boxes=boxes, words=change_words, runs_at_most=RUNS, **values
    )


def _unknown(
    context: RelayContext, heading: str, advice: str = "The relay may never have heard of it."
) -> HTMLResponse:
    return PAGES.render("error.html", context, status=404, nav="", heading=heading, advice=advice)


def _values(session: Session, context: RelayContext, change: Change | None, wanted: Wanted) -> dict[str, Any]:
    if change is None:
        return {"run": None, "followed": None, "heads": ()}
    views = summaries(session, change.runs, context.settings.public_url)
    by_id = {view.id: view for view in views}
    answer = answer_of(change.heads[0])
    run, counts = by_id[answer.run.id], count_groups(session, answer)
    repeats = [by_id[repeat.id] for repeat in answer.repeats]
    followed = next((one for one in (run, *repeats) if one.state not in FINAL_RUN_STATES), None)
    groups = tuple(_groups(session, answer, counts, wanted))
    considered = load_considered(session, run.id)
    return _left_out(considered, wanted) | {
        "run": run,
        "followed": followed,
        "last_event": last_event_id(session, (followed or run).id),
        "word": change_words.verdict_word(run, counts),
        "sentence": change_words.verdict_sentence(run, counts),
        "announcement": wording.announcement(run),
        "repeats": change_words.repeats_sentence(repeats),
        "tally": [(change_words.GROUP_WORDS[group], count) for group, count in counts.items() if count],
        "fine": counts[ChangeGroup.FINE],
        "groups": groups,
        "decisions": considered.about({test.base for group in groups for test in group.tests}),
        "compared": compare_with_base(session, current(answer)),
        "heads": _heads(change, by_id),
        "others": change.others,
        "cut": change.cut,
    }


def _heads(change: Change, views: Mapping[int, RunSummary]) -> tuple[tuple[str, tuple[RunSummary, ...]], ...]:
    return tuple((head.sha, tuple(views[run.id] for run in head.runs)) for head in change.heads)


def _groups(session: Session, answer: Answer, counts: Mapping[ChangeGroup, int], wanted: Wanted) -> Iterator[Group]:
    """The groups that have tests, worst first; or a page of the one that is asked for."""
    if wanted.group:
        tests, following = page_of_group(session, answer, wanted.group, limit=_TESTS, after=wanted.after)
        more = wanted.address("tests", after=following) if following else ""
        yield _group(wanted.group, tests, counts, more)
        return
    first = glimpse_groups(session, answer, limit=_GLIMPSE)
    for group in SHOWN:
        if counts[group]:
            more = wanted.address("tests", group=group, after=0) if counts[group] > _GLIMPSE else ""
            yield _group(group, first[group], counts, more)


def _group(group: ChangeGroup, tests: tuple[TestView, ...], counts: Mapping[ChangeGroup, int], more: str) -> Group:
    return Group(group, change_words.GROUP_WORDS[group], group is ChangeGroup.NEW, tests, counts[group], more)


def _left_out(considered: Considered, wanted: Wanted) -> dict[str, Any]:
    left, held = wanted.left_page, wanted.held_page
    dropped = considered.page(kept=False, q=wanted.q, limit=_LEFT_OUT, offset=left * _LEFT_OUT)
    filtered = considered.held(q=wanted.q, limit=_LEFT_OUT, offset=held * _LEFT_OUT)
    return {
        "left_out": dropped,
        "left_out_page": wanted.pager("left", left, dropped.total),
        "filtered": filtered,
        "filtered_page": wanted.pager("held", held, filtered.total),
    }
