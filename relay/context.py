"""What every handler and background thread of one relay process shares. Built once by `relay.app`; holds no logic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import Depends, Request

from relay.manifests import ManifestStore
from relay.outbox.types import Outbox
from relay.parts import CrcrParts
from relay.settings import RelaySettings
from relay.store.clock import utc_now
from relay.store.engine import Store
from relay.wake import Waker


@dataclass(frozen=True)
class RelayContext:
    """The parts of one relay process. `settings` has every secret filled in; `crcr` and `outbox` are there when an
    allowlist is. `answers_only`: another process does what `relay.background` names."""

    settings: RelaySettings
    store: Store
    waker: Waker
    manifests: ManifestStore
    crcr: CrcrParts | None = None
    outbox: Outbox | None = None
    answers_only: bool = False
    now: Callable[[], datetime] = utc_now

    def close(self) -> None:
        """Let go of every connection."""
        if self.crcr is not None:
            self.crcr.close()
        self.waker.close()
        self.store.engine.dispose()


def context_of(request: Request) -> RelayContext:
    """The context of the application that serves this request."""
    context = request.app.state.relay
    if not isinstance(context, RelayContext):
        raise TypeError("relay.app.create_app sets app.state.relay")
    return context


async def relay_context(request: Request) -> RelayContext:
    """The same as a FastAPI dependency. Not a plain function: those are called in a thread, which takes many times as
    long as this does."""
    return context_of(request)


Context = Annotated[RelayContext, Depends(relay_context)]
