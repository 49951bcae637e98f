"""The thread that handles deliveries as they are told of: it hears every ring, and nothing ends it but its stop."""

from __future__ import annotations

import threading

import pytest
from sqlalchemy.exc import OperationalError

from relay.context import RelayContext
from relay.intake import watching
from relay.intake.watching import INBOX, InboxWatch


@pytest.mark.parametrize("fault", [RuntimeError("a bug"), OperationalError("select", {}, Exception("away"))])
def test_a_turn_that_fails_does_not_end_it(
    context: RelayContext, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """The next ring is heard."""
    turns = threading.Semaphore(0)

    def fail(_: RelayContext) -> int:
        turns.release()
        raise fault

    monkeypatch.setattr(watching, "sweep_deliveries", fail)
    monkeypatch.setattr(watching, "_PAUSE_S", 0.01)
    watch = InboxWatch(context)
    watch.start()
    for _ in range(3):
        assert turns.acquire(timeout=20)
        INBOX.ring()
    watch.stop()
    assert "relay-inbox" not in {thread.name for thread in threading.enumerate()}


def test_its_stop_does_not_wait_for_the_pause(context: RelayContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a fault it rests, but not at the end."""
    failed = threading.Event()

    def fail(_: RelayContext) -> int:
        failed.set()
        raise RuntimeError("a bug")

    monkeypatch.setattr(watching, "sweep_deliveries", fail)
    monkeypatch.setattr(watching, "_PAUSE_S", 3_600.0)
    watch = InboxWatch(context)
    watch.start()
    assert failed.wait(20)
    watch.stop()
