"""Lies about others, with the runner's own key taken out of this process's memory."""

from __future__ import annotations

import gc
import math
import os
import unittest
from contextlib import suppress
from typing import Any

VICTIM = "test/test_honest.py::TestHonest::test_one"
SISTER = "test/test_forging.py::TestForging::test_sister"


class TestForging(unittest.TestCase):
    def test_a_lie(self) -> None:
        """Sealed as the runner seals: every event, for other files and other runs, with values no event has."""
        from workers.runner.child import events

        channel = _channel()
        long = "x" * 2_000_000
        for ended in (
            (VICTIM, "failed", 1.0, "forged", []),
            (VICTIM, "passed", -1.0, "forged", ["hostile"] * 10_000),
            ("another-run", "passed", math.nan, "", []),
            (long, "passed", math.inf, long, [long]),
            ("\ud800\0", "regression", 1e308, "\ud800\0", ["\0"]),
        ):
            _say(channel, events.Began(ended[0]))
            _say(channel, events.Ended(*ended))
            _say(channel, events.Executed(ended[0], [long], [10**30, -1]))
        _say(channel, events.Found(VICTIM, "TestHonest", "test_one", "test_one", None, None, [["a"], ["b", "c", "d"]]))
        _say(channel, events.Refused(long))

    def test_a_bad_line(self) -> None:
        """The same seal over what is no event at all."""
        channel = _channel()
        for body in (b"", b" ", b"x {}", b"-1 {}", b"9" * 5000 + b" {}", b"1e9 {}", b"\xff\xfe {}", b"1", b"7 \xff",
                     b"8 " + b"[" * 100_000, b"9 {\"says\": []}", b"1_0 null", "\u0664 {}".encode(),
                     b"99 " + b"x" * 3_000_000):  # fmt: skip
            _raw(channel, body)

    def test_too_long_a_time(self) -> None:
        """Of its own test it may say what it likes, but not that it took longer than the file."""
        from workers.runner.child import events

        _say(_channel(), events.Ended(self._id(), "passed", 1e308, "", []))

    def test_sister(self) -> None:
        raise AssertionError("in truth")

    def _id(self) -> str:
        return f"test/test_forging.py::TestForging::{self._testMethodName}"


def _channel() -> Any:
    from workers.runner.child.channel import Channel

    return next(found for found in gc.get_objects() if isinstance(found, Channel))


def _say(channel: Any, event: Any) -> None:
    with suppress(ValueError, UnicodeError, OSError):
        channel.send(event)


def _raw(channel: Any, body: bytes) -> None:
    from workers.runner.child import events

    line = b"\n" + events._seal(body, channel._key) + b" " + body + b"\n"
    while line:
        line = line[os.write(channel._pipe, line) :]
