"""Looks for webhooks that never reached us, and makes good for them once (crcr-protocol 8, W3).

GitHub remembers which deliveries we did not take, and sends them again when asked. What it never tried to deliver shows
as an open pull request whose head nobody was told of: that one is told as if its webhook had come. Each step asks
GitHub outside of transactions; all that is decided is keyed, so that a second look decides nothing anew.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any

import structlog
from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from relay.allowlist.types import Participation
from relay.context import RelayContext
from relay.crcr.asked import Asked, Incoming, asked_by
from relay.crcr.receiving import receive
from relay.github.types import GitHubError, HookDelivery, OpenPull
from relay.outbox.leasing import OPEN_STATES
from relay.outbox.queue import NewItem, enqueue_all
from relay.parts import AllowlistUnavailableError, CrcrParts, GitHub
from relay.store.crcr_models import Dispatch, OutboxItem, OutboxKind
from relay.store.models import Delivery

_log = structlog.get_logger(__name__)

#: GitHub remembers deliveries for three days.
_LOOK_BACK = timedelta(days=3)
#: What is younger may still be on its way, or be redelivered by GitHub's own hand.
_GRACE = timedelta(minutes=15)
#: A delivery that we refused this often is one that we refuse.
_MOST_ATTEMPTS = 4
#: Pull requests that are told in one pass; each costs a request. The next pass tells others.
_PULLS_EACH = 50
#: What we act on at all, by event; a push has no action.
_ACTED_ON = {
    "pull_request": frozenset({"opened", "reopened", "synchronize", "closed", "labeled"}),
    "push": frozenset({None}),
    "check_run": frozenset({"rerequested"}),
    "check_suite": frozenset({"rerequested"}),
    "issue_comment": frozenset({"created"}),
}


@dataclass(frozen=True, slots=True)
class _Search:
    """One pass: what is looked at, and in which time."""

    context: RelayContext
    parts: CrcrParts
    github: GitHub
    since: datetime
    until: datetime


def sweep(context: RelayContext, stopping: Callable[[], bool] = lambda: False) -> dict[str, int]:
    """One pass: how many deliveries GitHub was asked to send again, and how many pull requests were told of. None is
    begun with once `stopping` is true, and the pass ends when GitHub does not answer."""
    done = {"redelivered": 0, "dispatched": 0}
    search = _search(context)
    if search is None:
        return done
    try:
        done["redelivered"] = _ask_again(search)
        if not stopping() and not _under_way(search):
            gaps = takewhile(lambda _: not stopping(), _untold(search)[:_PULLS_EACH])
            done["dispatched"] = sum(_tell(search, pull) for pull in gaps)
    except GitHubError as error:
        _log.warning("missed_search_failed", reason=error.message)
    except AllowlistUnavailableError as fault:
        _log.warning("missed_search_failed", reason=str(fault))
    if any(done.values()):
        _log.warning("missed_webhooks", **done)
    return done


def _search(context: RelayContext) -> _Search | None:
    """What to look at. A relay that heard of nothing yet has missed nothing: what was before it is not its business."""
    parts = context.crcr
    if parts is None or parts.github is None or context.settings.crcr_strict_compat:
        return None
    with context.store.reading() as session:
        first = session.scalar(select(func.min(Delivery.received_at)))
    now = context.now()
    since = None if first is None else max(first - _GRACE, now - _LOOK_BACK)
    return None if since is None else _Search(context, parts, parts.github, since, now - _GRACE)


def _ask_again(search: _Search) -> int:
    """Ask for the deliveries that we did not take, each once for every attempt that failed."""
    attempts: dict[str, list[HookDelivery]] = {}
    for one in search.github.hook_deliveries(search.since):
        attempts.setdefault(one.guid, []).append(one)
    with search.context.store.writing() as session:
        known = _known_deliveries(session, attempts)
        lost = [made for guid, made in attempts.items() if guid not in known and _is_lost(made, search.until)]
        return len(enqueue_all(session, [_redelivery(_newest(made)) for made in lost], search.context.now()))


def _known_deliveries(session: Session, guids: Iterable[str]) -> frozenset[str]:
    return frozenset(session.scalars(select(Delivery.delivery_id).where(Delivery.delivery_id.in_(list(guids)))))


def _is_lost(attempts: Sequence[HookDelivery], until: datetime) -> bool:
    """Whether all attempts to deliver something that we act on failed, and another one may help."""
    newest = _newest(attempts)
    taken = any(200 <= one.status_code < 300 for one in attempts)
    acted_on = newest.action in _ACTED_ON.get(newest.event, ())
    return acted_on and not taken and len(attempts) < _MOST_ATTEMPTS and _moment(newest.delivered_at) <= until


def _newest(attempts: Sequence[HookDelivery]) -> HookDelivery:
    return max(attempts, key=lambda one: (_moment(one.delivered_at), one.id))


def _redelivery(lost: HookDelivery) -> NewItem:
    key = f"redeliver/{lost.id}"
    return NewItem(OutboxKind.REDELIVER, key, f"redeliver/{lost.guid}", lost.guid, {"delivery": lost.id})


def _under_way(search: _Search) -> bool:
    """Whether something was asked for that may tell backends by itself: nobody is to be told twice."""
    waiting = OutboxItem.state.in_(OPEN_STATES)
    fresh = (OutboxItem.kind == OutboxKind.REDELIVER) & (OutboxItem.created_at > search.until)
    plans = (OutboxItem.kind == OutboxKind.PLAN) & waiting
    with search.context.store.reading() as session:
        return session.scalar(select(OutboxItem.id).where(or_(fresh, plans)).limit(1)) is not None


def _untold(search: _Search) -> Sequence[OpenPull]:
    """Open pull requests that changed in the time looked at, and of whose head no backend was told."""
    repo = search.context.settings.upstream_repo
    allowlist = search.parts.allowlist.current().allowlist
    if not allowlist.taking_part_in(Participation.PULL_REQUEST):
        return ()
    changed = [pull for pull in search.github.open_pulls(repo) if _in_time(pull, search)]
    numbers = [pull.number for pull in changed]
    with search.context.store.reading() as session:
        told = select(Dispatch.pr_number, Dispatch.head_sha).where(Dispatch.pr_number.in_(numbers))
        heads = {(row.pr_number, row.head_sha) for row in session.execute(told)}
        known = _known_deliveries(session, [_delivery_id(pull) for pull in changed])
    return [pull for pull in changed if (pull.number, pull.head_sha) not in heads and _delivery_id(pull) not in known]


def _in_time(pull: OpenPull, search: _Search) -> bool:
    return search.since <= _moment(pull.updated_at) <= search.until


def _tell(search: _Search, gap: OpenPull) -> bool:
    """Take the webhook in that should have come. False when the pull request moved on: its next webhook will come."""
    pull = _whole(search, gap.number)
    payload = _payload(pull)
    if payload is None or pull["head"].get("sha") != gap.head_sha or pull.get("state") != "open":
        return False
    incoming = Incoming("pull_request", _delivery_id(gap), json.dumps(payload).encode(), payload)
    if asked_by(search.context.settings, incoming)[0] is not Asked.DISPATCH:
        return False
    return not receive(search.context, incoming).repeated


def _whole(search: _Search, number: int) -> Mapping[str, Any]:
    """The pull request; an empty one when GitHub refuses to tell of it, which is no reason to leave out the others."""
    try:
        return search.github.pull(search.context.settings.upstream_repo, number)
    except GitHubError as error:
        if error.passing:
            raise
        return {}


def _payload(pull: Mapping[str, Any]) -> dict[str, Any] | None:
    """The webhook's body, made of the pull request as the API tells of it; None when that is not as documented."""
    head, base = pull.get("head"), pull.get("base")
    repository = base.get("repo") if isinstance(base, dict) else None
    if not isinstance(head, dict) or not isinstance(repository, dict):
        return None
    return {
        "action": "synchronize",
        "number": pull.get("number"),
        "pull_request": dict(pull),
        "repository": repository,
        "sender": pull.get("user"),
    }


def _delivery_id(pull: OpenPull) -> str:
    """An identity of our own: the same head of the same pull request is missed once."""
    return f"missed-{pull.number}-{pull.head_sha}"


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
