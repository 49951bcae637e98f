"""Sending results on to an external HUD: the envelope, its letters, and the original's way of doing it at once.

Ours is a consumer of the outbox: a HUD that is down or refuses never reaches a backend. The strict mode posts while the
backend waits and hands the HUD's answer on. Source: crcr-protocol 1.6.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any

import httpx
import structlog
from sqlalchemy.orm import Session

from relay.contract import SHORT_CAP
from relay.crcr.callback import COMPLETED, CallbackRefusedError
from relay.outbox.queue import enqueue
from relay.outbox.types import Ending, Letter, Postponed, Sent, Undeliverable
from relay.outgoing import Answer, ask, open_client
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, OutboxItem, OutboxKind

_log = structlog.get_logger(__name__)

KEY_HEADER = "x-hud-internal-bot"
_JSON = {"Content-Type": "application/json"}
#: Of one try.
TIMEOUT_S = 10.0
#: Nothing of its answer is needed but its first words.
ANSWER_CAP = 65_536
#: Refusals that say something of us, or of this moment, and nothing of what was sent.
_PASSING = frozenset({401, 403, 404, 408, 425, 429})

Envelope = Mapping[str, Any]


def envelope(
    repo: str,
    level: str,
    callback: Mapping[str, Any],
    *,
    queue_time: float | None = None,
    execution_time: float | None = None,
    assumed: str = "",
) -> dict[str, Any]:
    """What is posted: our own word apart from the backend's. Times are seconds; `assumed` tells why nobody reported
    what stands in the callback."""
    metrics = {"queue_time": _seconds(queue_time), "execution_time": _seconds(execution_time)}
    trusted: dict[str, Any] = {"verified_repo": repo, "downstream_repo_level": level, "ci_metrics": metrics}
    if assumed:
        trusted["assumed"] = assumed
    return {"trusted": trusted, "untrusted": {"callback_payload": callback}}


def job_envelope(job: BackendJob, level: str, callback: Mapping[str, Any], *, assumed: str = "") -> dict[str, Any]:
    """The envelope of a job's callback: a start tells how long it was waited for, an end how long it took."""
    ended = callback["workflow"]["status"] == COMPLETED
    return envelope(
        job.repo,
        level,
        callback,
        queue_time=None if ended else job.queue_time,
        execution_time=job.execution_time if ended else None,
        assumed=assumed,
    )


def _seconds(value: float | None) -> float | None:
    return None if value is None else round(max(value, 0.0), 3)


def is_on(settings: RelaySettings) -> bool:
    """Whether there is an external HUD."""
    return bool(settings.hud_url)


def results_url(settings: RelaySettings) -> str:
    """Where it takes results."""
    return f"{settings.hud_url}/crcr/results"


def queue(
    session: Session, settings: RelaySettings, lane: str, posted: Envelope, *, now: datetime, job_id: int | None = None
) -> None:
    """Queue an envelope for the external HUD, behind those of the same lane. What was queued before is not again."""
    if not is_on(settings):
        return
    digest = hashlib.sha256(json.dumps(posted, sort_keys=True).encode()).hexdigest()
    enqueue(
        session,
        kind=OutboxKind.HUD,
        key=f"hud/{digest}",
        lane=f"hud/{lane}",
        target=results_url(settings),
        body=dict(posted),
        now=now,
        job_id=job_id,
    )


class HudPost:
    """The way to the external HUD. It may be used by several threads."""

    def __init__(self, settings: RelaySettings, transport: httpx.BaseTransport | None = None) -> None:
        key = settings.hud_key
        # Posts are few, and one over a connection that the HUD gave up meanwhile would be one that fails.
        headers = {"Connection": "close"}
        if key is not None:
            headers[KEY_HEADER] = key.get_secret_value()
        self._client = open_client(settings.hud_url, timeout_s=TIMEOUT_S, transport=transport, headers=headers)

    def post(self, url: str, posted: Envelope) -> Answer:
        """One try.

        Raises:
            httpx.HTTPError: there was no answer.
        """
        # In ASCII: a backend's JSON may hold half a character, which has no UTF-8 form.
        content = json.dumps(posted).encode("ascii")
        request = self._client.build_request("POST", url, content=content, headers=_JSON)
        return ask(self._client, request, ANSWER_CAP)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


class HudSender:
    """Posts envelopes. What the HUD refuses for its content is parked, everything else is tried again."""

    def __init__(self, settings: RelaySettings, transport: httpx.BaseTransport | None = None) -> None:
        self._hud = HudPost(settings, transport)

    def close(self) -> None:
        """Close the connections."""
        self._hud.close()

    def send(self, letter: Letter) -> Ending:
        """One try."""
        try:
            answer = self._hud.post(letter.target, letter.body)
        except httpx.HTTPError as error:
            return Postponed(f"The HUD did not answer: {type(error).__name__}.")
        status = answer.status
        if httpx.codes.is_success(status):
            return Sent()
        reason = f"The HUD answered {status}: {_reason(answer)}"
        if httpx.codes.is_client_error(status) and status not in _PASSING:
            return Undeliverable(reason, status)
        return Postponed(reason, status, _retry_after(answer))

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Raise the alarm over what was parked; there are no other books."""
        if isinstance(ending, Undeliverable):
            _log.error("hud_refused", outbox=item.id, job=item.job_id, status=ending.status, reason=ending.reason)


def _reason(answer: Answer) -> str:
    """What the HUD says of a refusal, or the standard words of its status."""
    said = answer.body.decode(errors="replace").strip()
    return said[:SHORT_CAP] or httpx.codes.get_reason_phrase(answer.status)


def _retry_after(answer: Answer) -> float | None:
    """The seconds it asks for; the header's other form, a date, is left to our own pace."""
    wanted = answer.headers.get("Retry-After", "")
    return float(wanted) if wanted.isascii() and wanted.isdecimal() and len(wanted) < 6 else None


def forward_now(
    settings: RelaySettings,
    posted: Envelope,
    *,
    pause: Callable[[float], object] = time.sleep,
    transport: httpx.BaseTransport | None = None,
) -> None:
    """Post at once, as the original does: a refusal is final, a failure is tried again after 1, 2, 4... seconds.

    Raises:
        CallbackRefusedError: the status and the words that the original answers its caller with.
    """
    if not is_on(settings):
        return
    with closing(HudPost(settings, transport)) as hud:
        _insist(hud, settings, posted, pause)


def _insist(hud: HudPost, settings: RelaySettings, posted: Envelope, pause: Callable[[float], object]) -> None:
    last: int | None = None
    for attempt in range(settings.hud_max_retries + 1):
        if attempt:
            pause(2.0 ** (attempt - 1))
        try:
            answer = hud.post(results_url(settings), posted)
        except httpx.HTTPError as error:
            _log.warning("hud_unreachable", attempt=attempt + 1, fault=type(error).__name__)
            last = None
            continue
        last = answer.status
        if httpx.codes.is_success(last):
            return
        if httpx.codes.is_client_error(last):
            raise CallbackRefusedError(last, f"HUD rejected callback: HTTP {last}: {_reason(answer)}")
    raise _failed(last, settings.crcr_rate_per_min)


def _failed(status: int | None, rate_per_min: int) -> CallbackRefusedError:
    if status is None:
        return CallbackRefusedError(500, "Internal server error")
    wait_s = max(1, 60 // rate_per_min)
    return CallbackRefusedError(500, f"HUD failed with HTTP {status}; please retry after {wait_s} seconds")
