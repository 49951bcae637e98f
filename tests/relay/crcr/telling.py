"""A relay that tells backends of webhooks: its record, its outbox, and the GitHub and allowlist that a test sets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import select

from relay.context import RelayContext
from relay.crcr.asked import Incoming
from relay.crcr.dispatching import senders
from relay.crcr.receiving import Received, receive
from relay.outbox.delivering import Deliverer
from relay.parts import CrcrParts
from relay.store.crcr_models import CheckWish, Dispatch, OutboxItem
from relay.store.engine import Store
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.payloads import DELIVERY, pull_request
from tests.conformance.world import Clock
from tests.relay.crcr.stage import NoVerifier


@dataclass
class Telling:
    """`receive` takes webhooks in, `drain` sends what is due."""

    context: RelayContext
    clock: Clock
    github: GitHubStandIn
    allowlist: AllowlistStandIn
    outbox: Deliverer = field(init=False)

    def __post_init__(self) -> None:
        parts = CrcrParts(self.allowlist, NoVerifier(), self.github)
        self.context = replace(self.context, crcr=parts, now=self.clock)
        self.renew()

    def renew(self) -> None:
        """Another process on the same record."""
        self.outbox = Deliverer(self.context.store, senders(self.context), self.clock, workers=8)
        self.context = replace(self.context, outbox=self.outbox)

    def set(self, **settings: object) -> None:
        """Change settings."""
        self.context = replace(self.context, settings=self.context.settings.model_copy(update=settings))
        self.renew()

    def receive(
        self, event: str = "pull_request", payload: Mapping[str, Any] | None = None, *, delivery: str = DELIVERY
    ) -> Received:
        """Take a webhook in, as if its signature had been judged."""
        told = pull_request() if payload is None else payload
        return receive(self.context, Incoming(event, delivery, json.dumps(told).encode(), told))

    def drain(self, after_s: float = 0) -> int:
        """Send what is due then."""
        self.clock.tick(after_s)
        return self.outbox.deliver_due()

    def dispatches(self) -> dict[str, Dispatch]:
        """By repository."""
        with self.context.store.reading() as session:
            return {row.repo: row for row in session.scalars(select(Dispatch).order_by(Dispatch.id))}

    def letters(self) -> Sequence[OutboxItem]:
        with self.context.store.reading() as session:
            return session.scalars(select(OutboxItem).order_by(OutboxItem.id)).all()

    def wishes(self) -> dict[str, CheckWish]:
        """By backend."""
        with self.context.store.reading() as session:
            return {row.repo_key: row for row in session.scalars(select(CheckWish))}


@contextmanager
def telling(context: RelayContext, store: Store | None = None) -> Iterator[Telling]:
    """A relay for pytorch/pytorch whose record is empty; `store` is another one than the context's."""
    settings = context.settings.model_copy(update={"upstream_repo": "pytorch/pytorch"})
    clock = Clock()
    made = replace(context, settings=settings, store=store or context.store)
    yield Telling(made, clock, GitHubStandIn(), AllowlistStandIn(clock))
