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
from relay.served import ServedBackend
from relay.settings import RelaySettings
from relay.store.clock import utc_now
from relay.store.engine import Store
from relay.wake import Waker


@dataclass(frozen=True)
class RelayContext:
    """The parts of one relay process. `settings` has every secret filled in, and the first of the `backends` is the one
    that its `device` names; `crcr` and `outbox` are there when an allowlist is. `answers_only`: another process does
    what `relay.background` names."""

    settings: RelaySettings
    store: Store
    waker: Waker
    backends: tuple[ServedBackend, ...]
    crcr: CrcrParts | None = None
    outbox: Outbox | None = None
    answers_only: bool = False
    now: Callable[[], datetime] = utc_now

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that are served, the usual one first."""
        return tuple(backend.device for backend in self.backends)

    @property
    def manifests(self) -> ManifestStore:
        """Those of the usual device."""
        return self.backends[0].manifests

    def manifest_problem(self) -> str:
        """Why manifests in use are not those in their folder, of each backend where that is so."""
        problems = {backend.device: backend.manifests.current().problem for backend in self.backends}
        several = len(self.backends) > 1
        return " ".join(
            f"{device}: {problem}" if several else problem for device, problem in problems.items() if problem
        )

    def backend_of(self, device: str) -> ServedBackend | None:
        """The backend of a device, None when it is not served."""
        return next((backend for backend in self.backends if backend.device == device), None)

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
