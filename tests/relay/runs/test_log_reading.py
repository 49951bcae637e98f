"""A run's log is read from either end, from any place, and searched; a page says how much of it was looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from sqlalchemy import event

from relay.contract import LogKind, LogLine, LogPosted
from relay.errors import InvalidCursorError, NotFoundError
from relay.log_views import LogPage
from relay.runs import log_reading
from relay.runs.leases import LeasedShard
from relay.runs.log_places import LogWanted, Place, parse_place
from relay.runs.log_reading import every_line, read_end_of_log, read_log
from relay.runs.run_log import accept_log
from relay.store.engine import Store
from tests.relay.worker_story import NOW, arrive_and_plan, lease_id, must_lease, names


class Shards:
    """Two shards that speak by turns: six chunks of four lines."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.run_id = arrive_and_plan(store, [names(2)[:1], names(2)[1:]])
        self.leased = [must_lease(store), must_lease(store)]
        self._said = [0, 0]
        for part in range(3):
            for shard in (0, 1):
                self.say(shard, [f"shard {shard} line {4 * part + number}" for number in range(4)])

    def say(self, shard: int, texts: Sequence[str], kind: LogKind = LogKind.STEP) -> None:
        lines = tuple(LogLine(at=1.0, kind=kind, text=text) for text in texts)
        posted = LogPosted(lease_id=lease_id(self.leased[shard]), first=self._said[shard], lines=lines)
        with self.store.writing() as session:
            accept_log(session, self.leased[shard].shard.id, posted, NOW, 1 << 20)
        self._said[shard] += len(lines)

    def read(
        self, *, after: str = "", before: str = "", limit: int = 100, q: str = "", shard: LeasedShard | None = None
    ) -> LogPage:
        wanted = LogWanted(self.run_id, shard.shard.id if shard else None, None, q)
        places = {name: parse_place(text) for name, text in (("after", after), ("before", before)) if text}
        with self.store.reading() as session:
            return read_log(session, wanted, after=places.get("after"), before=places.get("before"), limit=limit)

    def end(self, limit: int = 100) -> LogPage:
        with self.store.reading() as session:
            return read_end_of_log(session, LogWanted(self.run_id), limit=limit)


@pytest.fixture
def shards(store: Store) -> Shards:
    return Shards(store)


def texts(page: LogPage) -> list[str]:
    return [line.text for line in page.lines]


def pages(shards: Shards, limit: int) -> Iterator[LogPage]:
    page = shards.read(limit=limit)
    yield page
    while page.later:
        page = shards.read(after=page.last, limit=limit)
        yield page


@pytest.mark.parametrize("limit", [1, 3, 4, 5, 8, 23, 24, 25])
def test_pages_of_any_size_hold_every_line_once(shards: Shards, limit: int) -> None:
    whole = texts(shards.read())
    assert len(set(whole)) == len(whole) == 24
    assert [text for page in pages(shards, limit) for text in texts(page)] == whole
    backwards: list[str] = []
    page = shards.end(limit)
    backwards[:0] = texts(page)
    while page.earlier:
        page = shards.read(before=page.first, limit=limit)
        backwards[:0] = texts(page)
    assert backwards == whole


def test_a_page_says_what_is_around_it(shards: Shards) -> None:
    first = shards.read(limit=5)
    assert (first.earlier, first.later, first.searched, first.total) == (False, True, 5, 24)
    middle = shards.read(after=first.last, limit=5)
    assert (middle.earlier, middle.later) == (True, True)
    last = shards.end(5)
    assert (last.earlier, last.later, last.searched) == (True, False, 5)
    assert shards.read(before=last.first, limit=5).later


def test_who_follows_asks_after_the_last_line_and_gets_what_came_since(shards: Shards) -> None:
    seen = shards.read()
    assert not seen.later
    nothing = shards.read(after=seen.last)
    assert (nothing.lines, nothing.last) == ((), seen.last)
    shards.say(0, ["news"])
    assert texts(shards.read(after=nothing.last)) == ["news"]


def test_one_shard_can_be_read_alone(shards: Shards) -> None:
    second = shards.leased[1]
    page = shards.read(shard=second)
    assert texts(page) == [f"shard 1 line {number}" for number in range(12)]
    assert [line.number for line in page.lines] == list(range(1, 13))
    assert {(line.shard, line.attempt) for line in page.lines} == {(second.shard.id, 1)}
    assert page.total == 12


def test_a_search_ignores_case_and_finds_what_it_should(shards: Shards) -> None:
    shards.say(1, ["AssertionError: Straße"], LogKind.FAILURE)
    found = shards.read(q="STRASSE")
    assert texts(found) == ["AssertionError: Straße"]
    assert (found.searched, found.total) == (25, 25)
    assert shards.read(q="%").lines == ()
    limited = shards.read(q="line 1", limit=2)
    assert (texts(limited), limited.later) == (["shard 0 line 1", "shard 1 line 1"], True)
    assert limited.searched < limited.total


def test_a_search_of_a_large_log_goes_on_where_it_stopped(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says that it did not look at everything, even when it has found nothing yet."""
    monkeypatch.setattr(log_reading, "PAGE_BYTES", 200)
    page = shards.read(q="shard 1 line 11")
    assert (page.lines, page.later) == ((), True)
    assert 0 < page.searched < page.total
    looked_at = page.searched
    while page.later:
        page = shards.read(q="shard 1 line 11", after=page.last)
        looked_at += page.searched
    assert texts(page) == ["shard 1 line 11"]
    assert looked_at == 24


def test_the_first_failure_is_a_place_to_begin_at(shards: Shards) -> None:
    shards.say(1, ["ok", "it fails", "it fails again"], LogKind.FAILURE)
    shards.say(1, ["later"])
    logs = {log.shard: log for log in shards.read().logs}
    failed = logs[shards.leased[1].shard.id]
    assert (failed.failures, failed.lines) == (3, 16)
    assert logs[shards.leased[0].shard.id].first_failure == ""
    place = parse_place(failed.first_failure)
    just_before = str(Place(place.chunk, place.line)) if place.line else shards.read(before=str(place), limit=1).last
    assert texts(shards.read(after=just_before))[0] == "ok"


def test_every_line_comes_in_parts(shards: Shards, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_reading, "PAGE_BYTES", 200)
    found: list[str] = []
    after = None
    with shards.store.reading() as session:
        while part := list(every_line(session, LogWanted(shards.run_id), after=after)):
            assert len(part) < 24
            found += [line.text for line in part]
            after = parse_place(part[-1].place)
    monkeypatch.undo()
    assert found == texts(shards.read())


def test_a_page_takes_a_fixed_number_of_queries(shards: Shards) -> None:
    queries: list[str] = []

    def count(*facts: object) -> None:
        queries.append(str(facts[2]))

    event.listen(shards.store.engine, "before_cursor_execute", count)
    shards.read()
    first = len(queries)
    shards.say(0, ["x"] * 300)
    queries.clear()
    shards.read(limit=500)
    assert len(queries) == first <= 6


@pytest.mark.parametrize("text", ["x", "0.1", "1", "1.", "-1.2", "1.2.3", "9999999999.1", "1.999999", "\u0661.2"])
def test_what_is_no_place_is_refused(text: str) -> None:
    with pytest.raises(InvalidCursorError):
        parse_place(text)


def test_there_is_no_log_of_no_run(store: Store) -> None:
    with store.reading() as session, pytest.raises(NotFoundError):
        read_log(session, LogWanted(77), limit=1)
