"""How routes reach the live parts of their application: `app.state`, like the relay's context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request

from relay.store.engine import Store
from relay.web.live.events import KEPT, LiveEvents
from relay.web.live.sharing import OwnReads, SharedReads


@dataclass(frozen=True, slots=True)
class LiveParts:
    """What open pages share in one process."""

    events: LiveEvents
    reads: SharedReads

    @classmethod
    def on(cls, store: Store, *, kept: int = KEPT) -> LiveParts:
        """Of this record; so many events are kept. Nothing runs until somebody follows."""
        events = LiveEvents(store, kept=kept)
        return cls(events, SharedReads(lambda: events.newest))


def live_parts(request: Request) -> LiveParts:
    """The live parts of the application that serves this request (a FastAPI dependency)."""
    live = request.app.state.live
    if not isinstance(live, LiveParts):
        raise TypeError("relay.app.create_app sets app.state.live")
    return live


Live = Annotated[LiveParts, Depends(live_parts)]


def reads_of(
    live: Live, x_relay_refresh: Annotated[str, Header(include_in_schema=False)] = ""
) -> OwnReads | SharedReads:
    """Pages that are open already, and ask again because something happened, share what they read."""
    return live.reads if x_relay_refresh else OwnReads()


Reads = Annotated[OwnReads | SharedReads, Depends(reads_of)]
