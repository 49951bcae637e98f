"""Readers of one page share a read, never one that is older than an event or a second."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from relay.web.live.sharing import FRESH_S, SharedReads


class Source:
    """Counts its reads; the clock and the newest event are set by the test."""

    def __init__(self) -> None:
        self.reads = 0
        self.version: int | None = 1
        self.now = 0.0
        self.shared = SharedReads(lambda: self.version, lambda: self.now)

    def read(self) -> int:
        self.reads += 1
        return self.reads

    def get(self, key: object = "now") -> int:
        return self.shared.get(key, self.read)


def test_a_read_is_shared_for_a_moment() -> None:
    source = Source()
    assert [source.get(), source.get()] == [1, 1]
    source.now = FRESH_S
    assert source.get() == 2


def test_an_event_ends_the_sharing() -> None:
    source = Source()
    source.get()
    source.version = 2
    assert source.get() == 2


def test_nothing_is_shared_while_nobody_follows() -> None:
    source = Source()
    source.version = None
    assert [source.get(), source.get()] == [1, 2]


def test_what_no_event_tells_of_is_shared_by_its_age_alone() -> None:
    source = Source()
    source.version = None
    recent = [source.shared.recent("letters", source.read) for _ in range(3)]
    source.version, source.now = 7, FRESH_S / 2
    assert [*recent, source.shared.recent("letters", source.read)] == [1, 1, 1, 1]
    source.now = FRESH_S
    assert source.shared.recent("letters", source.read) == 2


def test_other_pages_are_other_reads() -> None:
    source = Source()
    assert [source.get("a"), source.get("b"), source.get("a")] == [1, 2, 1]


def test_an_error_is_not_kept() -> None:
    source = Source()

    def fail() -> int:
        raise LookupError

    with pytest.raises(LookupError):
        source.shared.get("now", fail)
    assert source.get() == 1


def test_the_oldest_pages_are_forgotten() -> None:
    source = Source()
    for number in range(200):
        source.get(number)
    assert source.get(199) == 200
    assert source.get(0) == 201


def test_of_many_who_ask_at_once_one_reads() -> None:
    source, everybody = Source(), threading.Barrier(8)

    def ask() -> int:
        everybody.wait(20)
        return source.get()

    with ThreadPoolExecutor(8) as pool:
        answers = [each.result(20) for each in [pool.submit(ask) for _ in range(8)]]
    assert answers == [1] * 8
