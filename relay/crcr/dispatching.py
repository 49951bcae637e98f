"""Sends what has to do with telling backends: dispatches, plans that had to wait, redeliveries.

Owns the books of dispatches. When, how often and by which thread a letter is sent is the outbox's business.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import cast

import structlog
from sqlalchemy import Table, bindparam, select, update
from sqlalchemy.orm import Session

from relay.context import RelayContext
from relay.crcr.asked import Incoming
from relay.crcr.endings import ending_of
from relay.crcr.envelope import Envelope, Envelopes, PayloadGoneError
from relay.crcr.reacting import react
from relay.crcr.trimming import PayloadTooLargeError
from relay.github.types import GitHubError
from relay.outbox.types import Ending, Letter, Postponed, Sender, Sent, Undeliverable
from relay.parts import AllowlistSource, AllowlistUnavailableError, GitHub
from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch, DispatchState, OutboxItem, OutboxKind
from relay.store.engine import Store
from relay.store.models import Delivery

_log = structlog.get_logger(__name__)

_DELISTED = "the backend is no longer on the allowlist"

# Written once: making a statement costs more than running it, and there is one for every letter.
_DISPATCHES = cast("Table", Dispatch.__table__)
_OPEN = (Dispatch.id == bindparam("of"), Dispatch.state != DispatchState.DISPATCHED)
_ACCEPTED = (
    update(_DISPATCHES)
    .where(*_OPEN)
    .values(state=DispatchState.DISPATCHED, dispatched_at=bindparam("at"), reason="", trim=bindparam("note"))
)
_POSTPONED = update(_DISPATCHES).where(*_OPEN).values(reason=bindparam("why"))
_REFUSED = update(_DISPATCHES).where(*_OPEN).values(state=bindparam("to"), reason=bindparam("why"))


def senders(context: RelayContext) -> Mapping[OutboxKind, Sender]:
    """The senders of this room. Without an App of ours only plans can be made; without an allowlist nothing."""
    if context.crcr is None:
        return {}
    allowlist, github = context.crcr.allowlist, context.crcr.github
    found: dict[OutboxKind, Sender] = {OutboxKind.PLAN: PlanSender(context.settings, allowlist)}
    if github is not None:
        found[OutboxKind.DISPATCH] = DispatchSender(context.store, context.settings, allowlist, github)
        found[OutboxKind.REDELIVER] = RedeliverSender(github)
    return found


class DispatchSender:
    """Tells one backend of one delivery."""

    def __init__(self, store: Store, settings: RelaySettings, allowlist: AllowlistSource, github: GitHub) -> None:
        self._store = store
        self._allowlist = allowlist
        self._github = github
        self._envelopes = Envelopes(settings)

    def send(self, letter: Letter) -> Ending:
        """`repository_dispatch` to the backend."""
        # Between the decision and the first attempt there is no time for the list to change.
        if letter.attempt > 1 and self._delisted(letter.target):
            return Undeliverable(_DELISTED)
        try:
            envelope = self._envelope(letter)
            self._github.dispatch(letter.target, envelope.event_type, envelope.client_payload)
        except (PayloadTooLargeError, PayloadGoneError) as fault:
            return Undeliverable(str(fault))
        except GitHubError as error:
            return ending_of(error)
        return Sent({"trim": envelope.trim})

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Keep with the dispatch what became of it. One that was accepted stays as it was then."""
        match ending:
            case Sent(answer):
                session.execute(_ACCEPTED, {"of": item.dispatch_id, "at": now, "note": answer["trim"]})
            case Postponed(reason):
                session.execute(_POSTPONED, {"of": item.dispatch_id, "why": reason})
            case Undeliverable(reason):
                state = DispatchState.WITHDRAWN if reason == _DELISTED else DispatchState.FAILED
                session.execute(_REFUSED, {"of": item.dispatch_id, "to": state, "why": reason})

    def _envelope(self, letter: Letter) -> Envelope:
        with self._store.reading() as session:
            dispatch = None if letter.dispatch_id is None else session.get(Dispatch, letter.dispatch_id)
            if dispatch is None:
                raise PayloadGoneError(f"the dispatch {letter.dispatch_id} is not in the record")
            return self._envelopes.build(session, dispatch)

    def _delisted(self, repo: str) -> bool:
        try:
            return self._allowlist.current().allowlist.find(repo) is None
        except AllowlistUnavailableError:
            return False


class PlanSender:
    """Does what a webhook asked for that came while no allowlist could be had."""

    def __init__(self, settings: RelaySettings, allowlist: AllowlistSource) -> None:
        self._settings = settings
        self._allowlist = allowlist

    def send(self, letter: Letter) -> Ending:
        """Ask for the allowlist again."""
        try:
            return Sent({"allowlist": self._allowlist.current().allowlist})
        except AllowlistUnavailableError as fault:
            return Postponed(str(fault))

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Do it now that there is one."""
        if not isinstance(ending, Sent):
            return
        delivery = session.scalars(select(Delivery).where(Delivery.delivery_id == item.target)).one()
        if delivery.body_removed_at is not None:
            _log.warning("plan_too_late", delivery=item.target, body_removed_at=delivery.body_removed_at)
            return
        payload = json.loads(delivery.payload or b"{}")
        incoming = Incoming(delivery.event, delivery.delivery_id, delivery.payload, payload)
        react(session, self._settings, incoming, ending.answer["allowlist"], now)


class RedeliverSender:
    """Has GitHub send a webhook again that we did not take."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    def send(self, letter: Letter) -> Ending:
        """Ask for it; the webhook then comes in as any other."""
        try:
            self._github.redeliver(letter.body["delivery"])
        except GitHubError as error:
            return ending_of(error)
        return Sent()

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """There are no books: the webhook is one of its own."""
        if isinstance(ending, Undeliverable):
            _log.warning("redelivery_refused", delivery=item.body["delivery"], reason=ending.reason)
