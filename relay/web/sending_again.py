"""What an operator does with dead letters, for the API and the pages alike: due again, and written to the audit log.

Who may is settled by then (`relay.web.auth`, `relay.web.forms`).
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from relay.access.actions import Actor, record_action
from relay.context import RelayContext
from relay.outbox.listing import unknown_letter
from relay.outbox.replay import replay
from relay.outbox.views import Replayed
from relay.store.crcr_models import OutboxItem
from relay.web.paging import LARGEST


def send_again(context: RelayContext, actor: Actor, ids: Sequence[int]) -> Replayed:
    """The dead ones of these letters become due for `actor`, with all their attempts before them.

    Raises:
        NotFoundError: one of them does not exist; then nothing is changed.
    """
    asked = tuple(dict.fromkeys(ids))
    with context.store.writing() as session:
        known = frozenset(session.scalars(select(OutboxItem.id).where(OutboxItem.id.in_(_possible(asked)))))
        for one in asked:
            if one not in known:
                raise unknown_letter(one)
        replayed = tuple(replay(session, asked, context.now()))
        subject = f"{len(replayed)} of {len(asked)} deliveries"
        detail = ", ".join(map(str, replayed))
        record_action(session, actor, "outbox.replay", context.now(), subject=subject, detail=detail)
    return Replayed(replayed=replayed, untouched=tuple(one for one in asked if one not in replayed))


def _possible(ids: Sequence[int]) -> tuple[int, ...]:
    """Those that can be ids at all: PostgreSQL refuses to compare larger numbers."""
    return tuple(one for one in ids if 0 < one <= LARGEST)
