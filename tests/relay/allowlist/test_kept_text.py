"""The list in force: asked for in time, kept in the record, and never exchanged for a bad one."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlalchemy import event, update
from sqlalchemy.orm import Session
from structlog.testing import capture_logs

from relay.allowlist.findings import AllowlistError, Finding, Severity
from relay.allowlist.kept_text import RETRY_S, KeptText
from relay.allowlist.types import AllowlistUnavailableError
from relay.github.types import FetchedText, GitHubError
from relay.store.crcr_models import RemoteDocument
from relay.store.engine import Store
from tests.relay.allowlist.origin import Clock, Origin
from tests.relay.meanwhile import meanwhile

TTL = 900.0
URL = "https://github.com/a/b/blob/main/list.yml"
DOWN = GitHubError("GitHub answered 502", status=502)


def _words(text: str) -> tuple[str, ...]:
    """A grammar of its own: words, of which `wrong` is none."""
    if "wrong" in text:
        raise AllowlistError([Finding(3, 1, Severity.ERROR, "not a word")])
    return tuple(text.split())


Make = Callable[..., KeptText[tuple[str, ...]]]


@pytest.fixture
def origin() -> Origin:
    return Origin("one two")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def make(store: Store, origin: Origin, clock: Clock) -> Make:
    """One more process that reads the same text through the same record."""

    def process(url: str = URL, fetch: object = origin.fetch) -> KeptText[tuple[str, ...]]:
        return KeptText("list", url, _words, store=store, fetch=fetch, ttl_s=TTL, now=clock)  # type: ignore[arg-type] # a test's own

    return process


def test_within_its_time_it_is_not_asked_for_again(make: Make, origin: Origin, clock: Clock) -> None:
    """Not by another process either; the last moment of its time is the first of the next."""
    one, two = make(), make()
    first = one.current()
    assert (first.value, first.problem, first.read_at) == (("one", "two"), "", clock.at)
    clock.tick(TTL - 1)
    assert {kept.current() for kept in (one, two, make())} == {first}
    assert origin.asked == 1
    clock.tick(1)
    assert two.current() == one.current()
    assert origin.asked == 2


def test_an_unchanged_text_is_not_sent_again(make: Make, origin: Origin, clock: Clock) -> None:
    """The second question carries the ETag of the first answer, by whichever process; it counts as read anew."""
    make().current()
    clock.tick(TTL)
    again = make().current()
    assert (again.value, again.read_at) == (("one", "two"), clock.at)
    assert origin.etags[0] == ""
    assert origin.etags[1] != ""


def test_a_new_text_replaces_the_old(make: Make, origin: Origin, clock: Clock) -> None:
    """At the end of its time, or at once when somebody says so; then everywhere."""
    one, two = make(), make()
    one.current()
    origin.text = "three"
    assert two.current().value == ("one", "two")
    assert one.refresh().value == ("three",)
    assert two.current().value == ("three",)
    origin.text = "four"
    clock.tick(TTL)
    assert two.current().value == ("four",)


def test_a_bad_text_never_replaces_a_good_one(make: Make, origin: Origin, clock: Clock) -> None:
    """It is told as the problem, with its line, and the source is asked again before long; without an ETag, as nothing
    of it is kept to compare with."""
    kept = make()
    kept.current()
    good_at = clock.at
    origin.text = "wrong"
    clock.tick(TTL)
    for process in (kept, make()):
        found = process.current()
        assert (found.value, found.read_at) == (("one", "two"), good_at)
        assert "line 3:1: not a word" in found.problem
    assert origin.asked == 2
    clock.tick(RETRY_S)
    assert kept.current().problem
    assert origin.etags[2] == ""
    origin.text = "five"
    clock.tick(RETRY_S)
    mended = kept.current()
    assert (mended.value, mended.problem, mended.read_at) == (("five",), "", clock.at)


@pytest.mark.parametrize("back", ["one two", "another"])
def test_an_outage_leaves_the_last_good_one(make: Make, origin: Origin, clock: Clock, back: str) -> None:
    """Told as the problem, and gone once the source answers again, be it with the same text or another."""
    kept = make()
    kept.current()
    origin.error = DOWN
    clock.tick(TTL)
    found = kept.current()
    assert found.value == ("one", "two")
    assert found.problem == "it cannot be fetched: GitHub answered 502"
    origin.error, origin.text = None, back
    clock.tick(RETRY_S - 1)
    assert kept.current().problem
    clock.tick(1)
    assert (kept.current().value, kept.current().problem) == (tuple(back.split()), "")


@pytest.mark.parametrize("trouble", ["outage", "bad text"])
def test_without_any_good_one_there_is_none(make: Make, origin: Origin, clock: Clock, trouble: str) -> None:
    """Said with cause and variable, each time; the source is not asked each time, and what it then says counts."""
    origin.error, origin.text = (DOWN, "one") if trouble == "outage" else (None, "wrong")
    kept = make()
    for process in (kept, kept, make()):
        with pytest.raises(AllowlistUnavailableError, match=r"RELAY_LIST_URL.*(GitHub answered 502|not a word)"):
            process.current()
    assert origin.asked == 1
    origin.error, origin.text = None, "one"
    clock.tick(RETRY_S)
    assert kept.current().value == ("one",)


@pytest.mark.parametrize(("asked_for", "waits"), [(1.0, RETRY_S), (300.0, 300.0), (1e9, 3_600.0)])
def test_a_source_that_asks_for_a_pause_gets_it(
    make: Make, origin: Origin, clock: Clock, asked_for: float, waits: float
) -> None:
    """Not shorter than our own, not longer than an hour; whoever says so now may ask all the same."""
    kept = make()
    kept.current()
    origin.error = GitHubError("limit", status=403, retry_after_s=asked_for)
    kept.refresh()
    origin.error, origin.text = None, "new"
    clock.tick(waits - 1)
    assert kept.current().value == ("one", "two")
    clock.tick(1)
    assert kept.current().value == ("new",)
    origin.error = GitHubError("limit", status=403, retry_after_s=asked_for)
    kept.refresh()
    origin.error = None
    assert kept.refresh().problem == ""


def test_another_address_is_another_text(make: Make, origin: Origin) -> None:
    """The last good one of an old address is no stand-in for the new one."""
    make().current()
    origin.error = DOWN
    with pytest.raises(AllowlistUnavailableError):
        make(f"{URL}2").current()


def test_an_older_answer_does_not_undo_a_newer(make: Make, origin: Origin, clock: Clock) -> None:
    """A process that asked earlier and was answered later keeps its hands off the record."""
    make().current()
    fast = make()

    def slow(_url: str, _etag: str) -> FetchedText:
        # Meanwhile another process asks, after a push, and gets the newer text.
        clock.tick(1)
        origin.text = "newer"
        fast.refresh()
        return FetchedText("older", '"older"')

    make(fetch=slow).refresh()
    assert make().current().value == ("newer",)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("later_s", [1, -1])
def test_of_two_who_write_at_once_the_later_look_stays(
    make: Make, origin: Origin, store: Store, clock: Clock, *, known: bool, later_s: int
) -> None:
    """Whoever writes first, and whether there is a row yet; one of them has not committed when the other writes."""
    if known:
        make().current()
    clock.tick(10)
    other = {"url": URL, "good_text": "other", "good_at": clock.at, "checked_at": clock.at + timedelta(seconds=later_s)}
    seen = {"seen_etag": "", "seen_digest": hashlib.sha256(b"other").hexdigest(), "problem": ""}

    def first(session: Session) -> None:
        row = session.get(RemoteDocument, "list") or RemoteDocument(name="list")
        for name, value in (other | seen).items():
            setattr(row, name, value)
        session.add(row)

    origin.text = "mine"
    meanwhile(store, first, make().refresh)
    assert make().kept().value == (("other",) if later_s > 0 else ("mine",))


def test_many_threads_ask_once(make: Make, origin: Origin) -> None:
    """All of them get the first answer."""
    kept = make()
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: kept.current(), range(24)))
    assert {value.value for value in found} == {("one", "two")}
    assert origin.asked == 1


def test_nobody_waits_who_can_have_the_old_one(make: Make, origin: Origin, clock: Clock) -> None:
    """While one thread waits for the source, others are served."""
    make().current()
    clock.tick(TTL)
    asked, answered = threading.Event(), threading.Event()

    def slow(url: str, etag: str) -> FetchedText:
        asked.set()
        assert answered.wait(10)
        return origin.fetch(url, etag)

    kept = make(fetch=slow)
    thread = threading.Thread(target=kept.current)
    thread.start()
    try:
        assert asked.wait(10)
        assert kept.current().value == ("one", "two")
    finally:
        answered.set()
        thread.join(10)


def test_it_is_tended_before_its_time_is_over(make: Make, origin: Origin, clock: Clock) -> None:
    """So that requests do not wait; not sooner than needed, and an outage is no fault of the tending."""
    kept = make()
    kept.tend()
    kept.tend()
    assert origin.asked == 1
    clock.tick(TTL * 0.8)
    kept.tend()
    assert origin.asked == 2
    clock.tick(TTL * 0.8)
    origin.error = DOWN
    kept.tend()
    assert kept.current().problem
    assert origin.asked == 3


def test_what_the_record_has_is_told_without_asking(make: Make, origin: Origin, clock: Clock) -> None:
    """However old it is."""
    with pytest.raises(AllowlistUnavailableError, match="it was not read yet"):
        make().kept()
    make().current()
    clock.tick(10 * TTL)
    assert make().kept().value == ("one", "two")
    assert origin.asked == 1


def test_a_record_that_cannot_be_read_is_as_an_empty_one(make: Make, origin: Origin, store: Store) -> None:
    """And one that cannot be written does not keep the text from being used."""

    def refuse(*_: object) -> None:
        from sqlalchemy.exc import OperationalError

        raise OperationalError("", {}, Exception("away"))

    event.listen(store.engine, "before_cursor_execute", refuse)
    kept = make()
    assert kept.current().value == ("one", "two")
    assert kept.current().value == ("one", "two")
    assert origin.asked == 1
    event.remove(store.engine, "before_cursor_execute", refuse)
    make().current()
    assert origin.asked == 2


def test_a_kept_text_that_is_no_longer_understood_is_none(
    make: Make, origin: Origin, store: Store, clock: Clock
) -> None:
    """A newer relay may refuse what an older one took: then the source has the word, in its time."""
    make().current()
    with store.writing() as session:
        session.execute(update(RemoteDocument).values(good_text="wrong"))
    with pytest.raises(AllowlistUnavailableError, match="not a word"):
        make().current()
    assert make().refresh().value == ("one", "two")
    assert clock.at - make().current().read_at == timedelta()


def test_operators_are_told_once_of_each_problem(make: Make, origin: Origin, clock: Clock) -> None:
    """Not at every question; and whether there is still a list in force."""
    with capture_logs() as logs:
        kept = make()
        kept.current()
        for error, text in ((DOWN, "one two"), (DOWN, "one two"), (None, "wrong"), (None, "wrong"), (None, "good")):
            origin.error, origin.text = error, text
            kept.refresh()
    assert [(entry["log_level"], entry["kept"]) for entry in logs] == [("error", True)] * 2
    assert ["GitHub answered 502" in logs[0]["problem"], "not a word" in logs[1]["problem"]] == [True, True]


def test_a_pause_ends_with_the_first_good_answer(make: Make, origin: Origin, clock: Clock) -> None:
    """What was asked for by an answer of the past must not keep a list longer than its time."""
    kept = make()
    origin.error = GitHubError("limit", status=403, retry_after_s=3_600)
    with pytest.raises(AllowlistUnavailableError):
        kept.current()
    origin.error = None
    kept.refresh()
    origin.text = "later"
    clock.tick(TTL)
    assert kept.current().value == ("later",)
