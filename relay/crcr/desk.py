"""Where callbacks are taken: who may report, how often, and in which order it is judged (crcr-protocol 1.4).

A caller who is not listed is told `ignored` without its body being judged. What a callback means is decided elsewhere
(`relay.crcr.jobs`, `relay.crcr.nightly`); here are the transactions and their order. None is open while anybody outside
is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog
from sqlalchemy import select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from relay.allowlist.types import Backend, Level, repo_key
from relay.context import RelayContext
from relay.crcr import effects
from relay.crcr.callback import Callback, CallbackRefusedError, parse_callback
from relay.crcr.idempotency import body_digest
from relay.crcr.job_record import Taken
from relay.crcr.job_states import Step
from relay.crcr.jobs import take_callback
from relay.crcr.json_body import decode
from relay.crcr.nightly import checked_report, commit_of, is_self_report, take_report
from relay.crcr.rate_limit import AddressLimit, count_call
from relay.crcr.replay_guard import admit
from relay.github.commits import CommitCheck
from relay.parts import AllowlistUnavailableError, CrcrParts, VerifiedClaims
from relay.store.crcr_models import DELIVERY_CAP, Dispatch
from relay.throttle import take_token

_log = structlog.get_logger(__name__)

#: Tells a client that reads no bodies why nothing came of its callback.
IGNORED_HEADER = "X-Relay-Ignored"
#: When to try again what failed through no fault of the caller.
RETRY_S = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a caller is told with status 200."""

    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class CallbackDesk:
    """Where callbacks of one process are taken. It remembers who called from where, and which commits there are."""

    def __init__(self, context: RelayContext) -> None:
        self.context = context
        self.strict = context.settings.crcr_strict_compat
        self._addresses = AddressLimit(context.settings.crcr_rate_per_min)
        github = context.crcr.github if context.crcr else None
        self._commits = None if github is None else CommitCheck(github, now=context.now)

    def check_address(self, address: str) -> None:
        """Slow down whoever calls too often before saying who it is."""
        wait_s = None if self.strict else self._addresses.take(address, self.context.now())
        if wait_s is not None:
            raise CallbackRefusedError(429, "rate limit exceeded for your address", retry_after_s=wait_s)

    def take(self, raw: bytes, authorization: str | None) -> Answer:
        """The answer to a callback.

        Raises:
            CallbackRefusedError: it is not taken.
            TokenRefusedError: nobody we know sent it.
        """
        body = decode(raw)
        parts = self._parts()
        claims = parts.verifier.verify(authorization)
        backend = self._participant(parts, claims.repo)
        if backend is None or backend.level < Level.L2:
            return self._ignore(claims.repo, backend, body)
        self._admit(backend, claims, raw)
        callback = self._checked(parse_callback(body, strict=self.strict))
        return Answer(self._answer(callback, self._take(backend, callback)))

    def _parts(self) -> CrcrParts:
        if self.context.crcr is None:
            raise self._fault("This relay has no allowlist (RELAY_ALLOWLIST_URL), so it takes no callbacks")
        return self.context.crcr

    def _fault(self, detail: str) -> CallbackRefusedError:
        """What is our own fault may succeed later; the original has one answer to all of that."""
        if self.strict:
            return CallbackRefusedError(500, "Internal server error")
        return CallbackRefusedError(503, detail, retry_after_s=RETRY_S)

    def _participant(self, parts: CrcrParts, repo: str) -> Backend | None:
        try:
            return parts.allowlist.current().allowlist.find(repo)
        except AllowlistUnavailableError as error:
            _log.error("allowlist_unavailable", reason=str(error))
            raise self._fault("The allowlist cannot be read just now") from error

    def _admit(self, backend: Backend, claims: VerifiedClaims, raw: bytes) -> None:
        """Count the call, and its token, before anything of it is judged: a transaction of its own, which a refusal
        later on does not undo."""
        limit, now = self.context.settings.crcr_rate_per_min, self.context.now()
        try:
            with self.context.store.writing() as session:
                if self.strict:
                    wait_s = None if count_call(session, f"window/{backend.key}", limit, now) else 0
                else:
                    admit(session, claims, body_digest(raw), now)
                    wait_s = take_token(session, f"repo/{backend.key}", limit, now)
        except OperationalError as error:
            _log.error("rate_limit_unavailable", fault=type(error).__name__)
            status = 500 if self.strict else 503
            detail = "rate limit check failed: the record cannot be reached just now"
            raise CallbackRefusedError(status, detail, retry_after_s=RETRY_S) from error
        if wait_s is not None:
            detail = f"rate limit exceeded for {backend.repo}"
            raise CallbackRefusedError(429, detail, retry_after_s=None if self.strict else wait_s)

    def _take(self, backend: Backend, callback: Callback) -> Taken:
        """Keep a callback and what follows from it, in one transaction."""
        take = take_report if is_self_report(callback) else take_callback
        now, settings = self.context.now(), self.context.settings
        left = None
        with self.context.store.writing() as session:
            taken = take(session, settings, backend, callback, now)
            if taken.applied:
                job, level = taken.job, backend.level
                left = effects.apply(session, settings, job, callback.body, level=level, now=now)
        if taken.mismatch:
            _log.warning("callback_mismatch", repo=backend.repo, job=taken.job.id, fields=list(taken.mismatch))
        if left is not None:
            effects.finish(self.context, left)
        return taken

    def _checked(self, callback: Callback) -> Callback:
        """The callback, if it tells of a run that nobody dispatched, without what such a report must not hold."""
        if not is_self_report(callback):
            return callback
        report = checked_report(callback, self.context.settings.upstream_repo, strict=self.strict)
        if not self.strict:
            self._check_commit(commit_of(report))
        return report

    def _check_commit(self, sha: str) -> None:
        repo = self.context.settings.upstream_repo
        if self._commits is not None and not self._commits.exists(repo, sha):
            raise CallbackRefusedError(422, f"{repo} has no commit {sha}")

    def _answer(self, callback: Callback, taken: Taken) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": True, "status": callback.status}
        if self.strict:
            return answer
        if taken.step is Step.REPEAT:
            answer["duplicate"] = True
        if taken.step in (Step.LATE_START, Step.LATE_FINISH):
            answer["late"] = True
        if taken.mismatch:
            answer["mismatch"] = list(taken.mismatch)
        return answer

    def _ignore(self, repo: str, backend: Backend | None, body: object) -> Answer:
        """The answer to who does not report here. It looks like success, so it says elsewhere that it is none."""
        level = backend.level.name if backend else ""
        reason = (
            f"{repo} is at {level}, and reports are taken from L2 on" if level else f"{repo} is not on the allowlist"
        )
        _log.warning("callback_ignored", repo=repo, level=level)
        answer: dict[str, Any] = {"ok": True, "status": "ignored"}
        if self.strict:
            return Answer(answer)
        self._note_departure(repo, body)
        return Answer(answer | {"reason": reason}, {IGNORED_HEADER: f"level {level}" if level else "unlisted"})

    def _note_departure(self, repo: str, body: object) -> None:
        """Say on the dispatch that this answers, if there is one, that nobody listened: somebody took the backend off
        the list while it was at work."""
        delivery = body.get("delivery_id") if isinstance(body, dict) else None
        # Nobody has judged this body, and no database compares with just any text.
        if not isinstance(delivery, str) or len(delivery) > DELIVERY_CAP or not delivery.isprintable():
            return
        asked = (Dispatch.delivery_id == delivery, Dispatch.repo_key == repo_key(repo), Dispatch.level != Level.L1.name)
        with self.context.store.reading() as session:
            left = session.scalar(select(Dispatch.id).where(*asked, Dispatch.reason == ""))
        if left is not None:
            _log.error("callback_of_removed_backend", repo=repo, dispatch=left)
            with self.context.store.writing() as session:
                _note_on_dispatch(session, left)


def _note_on_dispatch(session: Session, dispatch_id: int) -> None:
    reason = "it answered after it had been taken off the allowlist, or lowered; its report was ignored"
    unsaid = (Dispatch.id == dispatch_id, Dispatch.reason == "")
    session.execute(update(Dispatch).where(*unsaid).values(reason=reason))
