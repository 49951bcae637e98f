"""The log on a run's page: which lines an address asks for, and where one goes from there.

Without a wish a run that goes on shows the end of its log, one that failed its first failure. Everything is in the
address: `log` is `begin`, `end`, or a place in the log (`12.3` shows it, `after-12.3` and `before-12.3` what is on
either side of it); `shard` and `attempt` choose, `find` searches.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlalchemy.orm import Session

from relay.contract import LogKind
from relay.log_views import LogLineView, LogPage
from relay.runs.log_places import LogWanted, Place, parse_place
from relay.runs.log_reading import read_end_of_log, read_log
from relay.web import log_words
from relay.web.pages.shell import number
from relay.web.wording import Word

LINES = 100
#: Lines before a place that is asked for, so that it has some company.
_CONTEXT = 8
_FIND_CAP = 200
_AT = re.compile(r"(after-|before-|)([1-9]\d{0,9}\.\d{1,5})", re.ASCII)

#: The page's address with some parameters changed, and a fragment.
Address = Callable[..., str]


@dataclass(frozen=True, slots=True)
class LogAsked:
    """What the address of a run's page says about its log."""

    at: str = ""
    shard: int | None = None
    attempt: int | None = None
    find: str = ""

    @classmethod
    def of(cls, at: str, shard: str, attempt: str, find: str) -> LogAsked:
        """Odd values count as not given."""
        known = at in {"begin", "end"} or _AT.fullmatch(at) is not None
        return cls(at if known else "", number(shard), number(attempt), find[:_FIND_CAP].strip())

    @property
    def given(self) -> bool:
        return self != LogAsked()

    def parameters(self) -> dict[str, str | int]:
        return {"log": self.at, "shard": self.shard or 0, "attempt": self.attempt or 0, "find": self.find}


@dataclass(frozen=True, slots=True)
class Line:
    """A line with how its kind is shown, and whose it is where there are several; `href` leads to it among its
    neighbours, where that is of use. `begun`: the place that was asked for."""

    line: LogLineView
    word: Word
    whose: str
    href: str
    begun: bool


@dataclass(frozen=True, slots=True)
class LogSection:
    """What the page shows. Addresses are empty where they would lead nowhere."""

    page: LogPage
    asked: LogAsked
    lines: tuple[Line, ...]
    summary: str
    sentence: str
    cut_short: str
    open: bool
    earlier: str
    later: str
    links: tuple[tuple[str, str], ...]
    choices: tuple[tuple[int, str, bool], ...]
    kept: tuple[tuple[str, str | int], ...]


def log_section(
    session: Session, run_id: int, asked: LogAsked, address: Address, *, live: bool, kept: dict[str, str | int]
) -> LogSection:
    """The lines asked for. `kept` are the other parameters of the page, for the form."""
    wanted = LogWanted(run_id, asked.shard, asked.attempt, asked.find)
    page, begun = _read(session, wanted, asked.at, live=live)
    failed = _first_failure(page, asked)
    return LogSection(
        page=page,
        asked=asked,
        lines=tuple(_lines(page, asked, address, begun)),
        summary=log_words.summary(page.logs),
        sentence=log_words.about_page(page, asked.find),
        cut_short=log_words.cut_short(page.logs),
        open=live or asked.given or bool(failed),
        earlier=address("log", log=f"before-{page.first}") if page.earlier and page.first else "",
        later=address("log", log=f"after-{page.last}") if page.later and page.last else "",
        links=tuple(_links(address, asked, failed)),
        choices=tuple(_choices(page, asked)),
        kept=tuple((name, value) for name, value in kept.items() if value),
    )


def _read(session: Session, wanted: LogWanted, at: str, *, live: bool) -> tuple[LogPage, str]:
    """The lines, and the place that they were opened at."""
    if at == "begin" or (wanted.q and not at):
        return read_log(session, wanted, limit=LINES), ""
    if found := _AT.fullmatch(at):
        side, place = found[1], parse_place(found[2])
        if side == "before-":
            return read_log(session, wanted, before=place, limit=LINES), ""
        after = place if side else _with_company(session, place, wanted)
        return read_log(session, wanted, after=after, limit=LINES), "" if side else str(place)
    page = read_end_of_log(session, wanted, limit=LINES)
    failed = _first_failure(page, LogAsked(shard=wanted.shard, attempt=wanted.attempt))
    if live or at == "end" or not failed:
        return page, ""
    return read_log(session, wanted, after=_with_company(session, parse_place(failed), wanted), limit=LINES), failed


def _with_company(session: Session, place: Place, wanted: LogWanted) -> Place:
    """Where a page begins that shows a place. A search shows no neighbours."""
    if not wanted.q:
        company = read_log(session, wanted, before=place, limit=_CONTEXT)
        place = parse_place(company.first) if company.lines else place
    return Place(place.chunk, place.line - 1)


def _first_failure(page: LogPage, asked: LogAsked) -> str:
    places = [
        parse_place(log.first_failure)
        for log in page.logs
        if log.first_failure and asked.shard in {None, log.shard} and asked.attempt in {None, log.attempt}
    ]
    return str(min(places)) if places else ""


def _lines(page: LogPage, asked: LogAsked, address: Address, begun: str) -> Iterator[Line]:
    several = len(page.logs) > 1 and not (asked.shard and asked.attempt)
    for line in page.lines:
        # A link on each line would be a hundred stops for who walks by keyboard.
        linked = bool(asked.find) or line.kind is LogKind.FAILURE
        href = address("log", log=line.place, find="") if linked else ""
        whose = log_words.whose(line) if several else ""
        yield Line(line, log_words.KIND_WORDS[line.kind], whose, href, line.place == begun)


def _links(address: Address, asked: LogAsked, failed: str) -> Iterator[tuple[str, str]]:
    if failed:
        yield "first failure", address("log", log=failed, find="")
    yield "beginning", address("log", log="begin", find="")
    yield "end", address("log", log="end", find="")
    if asked.shard or asked.attempt:
        yield "all shards", address("log", log="", shard=0, attempt=0)
    if asked.find:
        yield "clear the search", address("log", log="", find="")


def _choices(page: LogPage, asked: LogAsked) -> Iterator[tuple[int, str, bool]]:
    """The shards to choose from, each by its newest attempt."""
    newest = {log.shard: log for log in page.logs}
    if asked.shard and asked.shard not in newest:
        yield asked.shard, f"shard {asked.shard}: no lines", True
    for shard, log in newest.items():
        yield shard, log_words.shard_label(log), shard == asked.shard
