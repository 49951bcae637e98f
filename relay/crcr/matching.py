"""Which of our own dispatches a callback answers (crcr-protocol 8, W4 and W5).

Who was asked about which change is told by the dispatch; what the callback echoes of that is compared and flagged, but
never used. A delivery's id is known to every backend, so where checks are shown upstream it is not proof enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from relay.allowlist.types import Backend, Level
from relay.crcr.callback import Callback, CallbackRefusedError
from relay.crcr.idempotency import job_identity
from relay.crcr.job_record import find_job
from relay.crcr.nonce import KEY as NONCE_KEY
from relay.crcr.nonce import NonceCheck, check_nonce
from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch, DispatchState

#: GitHub may have started a backend before our own note of it is committed. In other states only a proof counts: GitHub
#: may also have started it without our having had its answer.
_OPEN = (DispatchState.DISPATCHED, DispatchState.QUEUED)


@dataclass(frozen=True, slots=True)
class Match:
    """The dispatch that a callback answers, and what the callback echoes otherwise than it was dispatched."""

    dispatch: Dispatch
    mismatch: tuple[str, ...] = ()


def match_dispatch(
    session: Session, settings: RelaySettings, backend: Backend, callback: Callback, *, now: datetime
) -> Match:
    """The dispatch that the callback answers.

    Raises:
        CallbackRefusedError: 400, there is none, or it is over and the callback is of no job that it began; 403, a
            backend whose checks are shown upstream does not prove that it was sent this very dispatch.
    """
    mine = (Dispatch.delivery_id == callback.delivery_id, Dispatch.repo_key == backend.key)
    # By the states that there are: a record whose state nobody can read is as good as none.
    dispatch = session.scalar(select(Dispatch).where(*mine, Dispatch.state.in_(list(DispatchState))))
    if dispatch is None:
        raise _unmatched()
    strict = settings.crcr_strict_compat
    proof = NonceCheck.UNASKED if strict else check_nonce(settings, dispatch, callback.nonce)
    if dispatch.state not in _OPEN and proof is not NonceCheck.VALID:
        raise _unmatched()
    age_s = (now - (dispatch.dispatched_at or dispatch.queued_at)).total_seconds()
    if age_s > settings.crcr_status_ttl_s and not _goes_on(session, settings, backend, callback):
        raise _unmatched()
    if backend.level >= Level.L3 and proof in (NonceCheck.ABSENT, NonceCheck.WRONG):
        raise CallbackRefusedError(
            403, f"callback rejected: send back the dispatch's envelope as it came, its key '{NONCE_KEY}' included"
        )
    return Match(dispatch, _mismatch(dispatch, callback) + ((NONCE_KEY,) if proof is NonceCheck.WRONG else ()))


def _unmatched() -> CallbackRefusedError:
    return CallbackRefusedError(400, "callback rejected: no matching dispatch record")


def _goes_on(session: Session, settings: RelaySettings, backend: Backend, callback: Callback) -> bool:
    """Whether the callback is of a job that is known: its end may be long in coming. The original forgot it."""
    return not settings.crcr_strict_compat and find_job(session, job_identity(callback, backend.key)) is not None


def note_answer(session: Session, dispatch: Dispatch, now: datetime) -> None:
    """Note that the dispatch was heard of; one that had been given up as never started is not given up any more."""
    first = (Dispatch.id == dispatch.id, or_(Dispatch.answered_at.is_(None), Dispatch.not_started_at.is_not(None)))
    session.execute(update(Dispatch).where(*first).values(answered_at=now, not_started_at=None))


def _mismatch(dispatch: Dispatch, callback: Callback) -> tuple[str, ...]:
    """What the callback echoes otherwise than it was dispatched; what it does not echo is no matter."""
    claimed = callback.claimed
    pairs = {
        "event_type": (callback.event_type, dispatch.event_type),
        "upstream_repo": (claimed.upstream_repo.casefold(), dispatch.upstream_repo.casefold()),
        "pr_number": (claimed.pr_number, dispatch.pr_number),
        "head_sha": (claimed.head_sha, dispatch.head_sha),
    }
    return tuple(name for name, (told, known) in pairs.items() if told and told != known)
