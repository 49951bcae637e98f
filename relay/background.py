"""What a relay does while nobody waits: decide about deliveries, send what is in its outbox, sweep, ask around. Part of
the composition root.

One process does it beside the web part, or several do, each safe beside the others: rows are leased and sweeps repeat.
Each part owns its threads and ends them: `Sweeper` one that asks the record alone, `Errands` all that ask somebody
outside, the deliverer those that send, `InboxWatch` and `Checkpoints` one each. The first two have a duty of their own
each, so that one process sweeps and one, perhaps another, runs errands. Holds no logic of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import time
from functools import partial

from relay import retention
from relay.comments import endings
from relay.comments.senders import senders as comment_senders
from relay.context import RelayContext
from relay.crcr import demotions, missed, senders, zombies
from relay.intake.deliveries import sweep_deliveries
from relay.intake.watching import InboxWatch
from relay.metrics.pulse import SWEEP
from relay.outbox.delivering import Deliverer
from relay.outbox.types import Sender
from relay.queue_terms import terms_of
from relay.runs.audits import open_daily_audit
from relay.runs.errands import Errand, Errands
from relay.runs.sweeper import Chore, Sweeper
from relay.store.checkpoints import Checkpoints
from relay.store.crcr_models import OutboxKind
from relay.store.duties import DutyLease
from relay.trail.known_secrets import known_secrets
from relay.trail.redaction import Redactor
from relay.upgrade.settling import settle_upgrades

#: The duty of whoever runs errands.
_ERRANDS = "errands"
#: How long nobody sweeps, or runs errands, when the one who did was killed, beside three sweeps.
_LEAD_S = 4.0
#: A job may be silent for hours; a minute more or less does not matter.
_ZOMBIES_EVERY_S = 60.0
#: A look costs some requests, and what it finds is a quarter of an hour old at least.
_MISSED_EVERY_S = 600.0
#: Somebody may be waiting; a look costs one query.
_ENDINGS_EVERY_S = 5.0
#: A lookup costs a request for each L3 backend.
_DEMOTIONS_EVERY_S = 600.0


@contextmanager
def background(context: RelayContext) -> Iterator[None]:
    """All of it, in threads of this process, from here to the end of the block."""
    sweeper = create_sweeper(context)
    always = (sweeper, create_errands(context), InboxWatch(context), Checkpoints(context.store))
    parts = always if context.outbox is None else (*always, context.outbox)
    for part in parts:
        part.start()
    try:
        yield
    finally:
        for part in reversed(parts):
            part.stop()


def create_outbox(context: RelayContext) -> Deliverer:
    """The deliverer of this process, not started yet."""
    workers = context.settings.crcr_dispatch_workers
    redact = Redactor(known_secrets(context.settings))
    return Deliverer(context.store, everybody_who_sends(context), context.now, workers, redact=redact)


def everybody_who_sends(context: RelayContext) -> Mapping[OutboxKind, Sender]:
    """The senders of all rooms, by what they send."""
    return {**senders.build(context), **comment_senders(context)}


def create_sweeper(context: RelayContext) -> Sweeper:
    """The sweep of this process, not started yet."""
    settings = context.settings
    return Sweeper(
        context.store,
        context.waker,
        terms_of(settings),
        interval_s=settings.sweep_seconds,
        now=context.now,
        process_deliveries=partial(sweep_deliveries, context),
        chores=tuple(_chores(context)),
        turn=_duty(context, SWEEP),
    )


def create_errands(context: RelayContext) -> Errands:
    """The errands of this process, not begun yet."""
    errands = tuple(_errands(context))
    return Errands(errands, turn=_duty(context, _ERRANDS), look_s=context.settings.sweep_seconds, now=context.now)


def _duty(context: RelayContext, name: str) -> DutyLease:
    lasts_s = _LEAD_S + 3 * context.settings.sweep_seconds
    return DutyLease(context.store, name, lasts_s=lasts_s, now=context.now)


def _chores(context: RelayContext) -> Iterator[Chore]:
    """What needs the record alone. The sweep waits for them."""
    yield Chore("retention", partial(_prune, context), every_s=retention.EVERY_S)
    yield Chore("results of upgrades", partial(settle_upgrades, context.store), every_s=_ENDINGS_EVERY_S)
    if context.settings.audit_at:
        yield Chore("audit of the day", partial(_start_audit, context))
    if context.crcr is not None:
        yield Chore("answers to comments", partial(endings.tell, context), every_s=_ENDINGS_EVERY_S)


def _errands(context: RelayContext) -> Iterator[Errand]:
    """What asks GitHub, or whoever has a list."""
    if context.crcr is not None:
        yield Errand("silent jobs", partial(zombies.sweep, context), every_s=_ZOMBIES_EVERY_S)
        yield Errand("demotions", partial(demotions.reconcile, context), every_s=_DEMOTIONS_EVERY_S)
        yield Errand("missed webhooks", partial(missed.sweep, context), every_s=_MISSED_EVERY_S)
        for work in context.crcr.upkeep:
            yield Errand("lists", partial(_tend, work))


def _tend(work: Callable[[], None], _: Callable[[], bool]) -> None:
    """One request at most: there is nothing to stop in between."""
    work()


def _prune(context: RelayContext) -> None:
    retention.prune(context.store, context.now(), context.settings.retention_days)


def _start_audit(context: RelayContext) -> None:
    settings = context.settings
    at = time.fromisoformat(settings.audit_at)
    for device in context.devices:
        with context.store.writing() as session:
            open_daily_audit(session, settings.upstream_repo, device, at, context.now())
