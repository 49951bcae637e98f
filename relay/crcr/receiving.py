"""A genuine webhook is kept and decided about in one transaction; what it asks for leaves through the outbox.

Owns the answer. The HTTP side (`relay.web.webhook`) judges signature and form before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import structlog
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist
from relay.context import RelayContext
from relay.crcr.asked import Asked, Incoming, asked_by
from relay.crcr.dispatch_plan import retry_failed, told
from relay.crcr.inline import ask_again, dispatch_inline
from relay.crcr.push_refs import touched_paths
from relay.crcr.reacting import is_undecided, react, react_later
from relay.crcr.reruns import RerunFailedError, handle_rerequest
from relay.intake.deliveries import record_delivery
from relay.parts import AllowlistUnavailableError, CrcrParts

_log = structlog.get_logger(__name__)

_IGNORED = {"ignored": True}


class WebhookFailedError(Exception):
    """The webhook was taken, and what it asked for did not succeed. `detail` is the answer's."""

    def __init__(self, status: HTTPStatus, detail: object) -> None:
        super().__init__(str(detail))
        self.status = status
        self.detail = detail


@dataclass(frozen=True, slots=True)
class Received:
    """A webhook that was kept as row `row_id`; `repeated`: it had been before. `answer` is what the protocol says."""

    row_id: int
    repeated: bool
    answer: Mapping[str, Any] = field(default_factory=lambda: _IGNORED)
    status: HTTPStatus = HTTPStatus.OK


def receive(context: RelayContext, incoming: Incoming) -> Received:
    """Keep a webhook and do what it asks for backends.

    Raises:
        ConflictError: its identity was another webhook's.
        WebhookFailedError: a re-run did not start; in the strict mode also when nobody could be told.
    """
    asked, reason = asked_by(context.settings, incoming)
    if context.crcr is None:
        return _keep(context, incoming, _IGNORED)
    if asked is Asked.RERUN:
        return _rerun(context, context.crcr, incoming)
    if asked is Asked.NOTHING:
        return _keep(context, incoming, _IGNORED | ({"reason": reason} if reason else {}))
    received = _decide(context, incoming, _allowlist(context, context.crcr))
    if asked is Asked.DISPATCH and context.settings.crcr_strict_compat:
        return _told_inline(context, incoming, received)
    return received


def touches_allowlist(parts: CrcrParts, incoming: Incoming) -> bool:
    """Whether it is a push that changes the allowlist."""
    repository, ref = incoming.payload.get("repository"), incoming.payload.get("ref")
    repo = repository.get("full_name") if isinstance(repository, dict) else None
    if incoming.event != "push" or not isinstance(repo, str) or not isinstance(ref, str):
        return False
    return parts.allowlist.names_path(touched_paths(incoming.payload), repo, ref)


def refresh_allowlist(parts: CrcrParts) -> None:
    """Read the allowlist again. Asks GitHub: call it after the answer."""
    try:
        parts.allowlist.refresh()
    except AllowlistUnavailableError as fault:
        _log.error("allowlist_unavailable", reason=str(fault))


def _keep(context: RelayContext, incoming: Incoming, answer: Mapping[str, Any]) -> Received:
    with context.store.writing() as session:
        delivery, repeated = _record(session, context, incoming)
        return Received(delivery, repeated, answer)


def _record(session: Session, context: RelayContext, incoming: Incoming) -> tuple[int, bool]:
    now = context.now()
    delivery, repeated = record_delivery(session, incoming.delivery_id, incoming.event, incoming.body, now)
    return delivery.id, repeated


def _allowlist(context: RelayContext, parts: CrcrParts) -> Allowlist | None:
    """The allowlist in force. None when there never was one: the webhook is then decided about later.

    Raises:
        WebhookFailedError: the same, in the strict mode: the original has no later.
    """
    try:
        return parts.allowlist.current().allowlist
    except AllowlistUnavailableError as fault:
        _log.error("allowlist_unavailable", reason=str(fault))
        if context.settings.crcr_strict_compat:
            raise WebhookFailedError(HTTPStatus.INTERNAL_SERVER_ERROR, "Internal server error") from fault
        return None


def _decide(context: RelayContext, incoming: Incoming, allowlist: Allowlist | None) -> Received:
    """Keep and decide, together: a process that dies has done both or neither."""
    settings, now = context.settings, context.now()
    with context.store.writing() as session:
        row_id, repeated = _record(session, context, incoming)
        if repeated and asked_by(settings, incoming)[0] is Asked.DISPATCH:
            return _told_again(session, context, incoming, row_id)
        if allowlist is not None:
            return Received(row_id, repeated, react(session, settings, incoming, allowlist, now))
        react_later(session, incoming, now)
        return Received(row_id, repeated, told(()), HTTPStatus.ACCEPTED)


def _told_again(session: Session, context: RelayContext, incoming: Incoming, row_id: int) -> Received:
    """A delivery that came again: whom to tell was decided when it first came, or still waits to be."""
    if context.settings.crcr_strict_compat:
        ask_again(session, incoming.delivery_id, context.now())
        return Received(row_id, True, told(()))
    dispatches = retry_failed(session, incoming.delivery_id, context.now())
    undecided = not dispatches and is_undecided(session, incoming)
    return Received(row_id, True, told(dispatches), HTTPStatus.ACCEPTED if undecided else HTTPStatus.OK)


def _told_inline(context: RelayContext, incoming: Incoming, received: Received) -> Received:
    answer = dispatch_inline(context, incoming.delivery_id)
    if answer["failed"] and not answer["dispatched"]:
        detail = {"message": "No downstream dispatch succeeded", "failed": answer["failed"]}
        raise WebhookFailedError(HTTPStatus.BAD_GATEWAY, detail)
    return Received(received.row_id, received.repeated, answer)


def _rerun(context: RelayContext, parts: CrcrParts, incoming: Incoming) -> Received:
    kept = _keep(context, incoming, _IGNORED)
    try:
        answer = handle_rerequest(context, parts, incoming.event, incoming.delivery_id, incoming.payload)
    except RerunFailedError as fault:
        raise WebhookFailedError(HTTPStatus.BAD_GATEWAY, fault.detail) from fault
    except AllowlistUnavailableError as fault:
        raise WebhookFailedError(HTTPStatus.SERVICE_UNAVAILABLE, str(fault)) from fault
    return Received(kept.row_id, kept.repeated, answer)
