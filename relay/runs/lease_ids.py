"""What a lease is called, and which lease a question for work was answered with. Locks and changes nothing.

A worker names its question (`relay.contract.LeaseRequest`), and a lease's id is made of that name, the shard and its
attempt. So the same question again finds its lease, for the answer may have been lost; and nobody guesses the id who
does not know the name. A shard counts an attempt with each lease and never one back, so a lease that has ended leaves
an id that no later one has, whoever asks and however late: reports that still name it are refused as ever.
"""

from __future__ import annotations

import base64
import hashlib
import secrets

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.store.models import Shard, ShardState

_BYTES = 24


def lease_id_of(request: str, device: str, shard_id: int, attempt: int) -> str:
    """The id of the lease that answers a question: 32 characters that do not tell its name. A question without a name
    gets another one each time."""
    if not request:
        return secrets.token_urlsafe(_BYTES)
    # The device comes last: it alone may hold a space.
    digest = hashlib.sha256(f"{request} {shard_id} {attempt} {device}".encode()).digest()
    return base64.urlsafe_b64encode(digest[:_BYTES]).decode()


def answered_with(session: Session, device: str, worker: str, request: str) -> int | None:
    """The shard whose present lease is this worker's answer to this question; None when there is none any more, or the
    question has no name. It may end until its run is locked."""
    if not request:
        return None
    named = (Shard.id, Shard.attempt, Shard.lease_id)
    of_worker = select(*named).where(Shard.state == ShardState.LEASED, Shard.lease_worker == worker)
    for shard_id, attempt, lease_id in session.execute(of_worker):
        if lease_id == lease_id_of(request, device, shard_id, attempt):
            return shard_id
    return None
