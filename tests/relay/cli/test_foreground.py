"""What a service in the foreground needs of its process."""

from __future__ import annotations

import io
import sys

import pytest
import structlog

from relay.cli.foreground import log_to_stderr


def test_a_log_line_goes_to_the_stderr_of_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was there at the start may be closed by then; logging must never fail the work that is logged."""
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", first)
    log_to_stderr()
    first.close()
    monkeypatch.setattr(sys, "stderr", second)
    structlog.get_logger("relay.somewhere").warning("still_here", run=7)
    assert "still_here" in second.getvalue()


_seen: list[object] = []


@pytest.mark.parametrize("turn", ["first", "second"])
def test_logging_that_a_test_sets_up_ends_with_it(turn: str) -> None:
    """The second turn finds logging as the first one found it."""
    _seen.append(structlog.get_config()["processors"])
    log_to_stderr()
    assert structlog.get_config()["processors"] != _seen[-1], turn
    assert _seen[0] == _seen[-1]
