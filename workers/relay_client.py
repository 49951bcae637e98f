"""The worker's side of the relay's worker API, over HTTP with a worker token.

Owns retries (bounded, of network errors, 429 and 5xx) and the reading of refusals. Sends and receives messages of
`relay.contract` only; a repeated post has the same body, so the relay can tell it from a new one. What has no number of
its own (a question for work) is given one here.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from types import TracebackType
from typing import Self, TypeVar

import httpx
import stamina
from pydantic import BaseModel, ValidationError

from relay.contract import (
    Accepted,
    Heartbeat,
    HeartbeatReply,
    Lease,
    LeaseRequest,
    LogLine,
    LogPosted,
    LogTaken,
    ObservedOperators,
    OperatorsAsked,
    Past,
    PastAsked,
    PresenceReply,
    ResultsPosted,
    SelectionPosted,
    SelectionReport,
    ShardFinished,
    ShardOutcome,
    TestResult,
    WorkerPresent,
)
from relay.trail.tracing import HEADER, present_traceparent

M = TypeVar("M", bound=BaseModel)

_QUOTE_CAP = 300
_TRIED_AGAIN = frozenset({408, 425, 429})


class RelayError(Exception):
    """The relay could not be used."""


class RelayUnavailableError(RelayError):
    """The relay did not answer, or answered that it cannot now, until the retries ran out."""


class RelayRefusedError(RelayError):
    """The relay refused a message for good: token, version or a bug. Trying again would be answered alike."""


class LeaseLostError(RelayError):
    """The shard is somebody else's by now (409); nothing more may be sent for it."""


class _TransientError(Exception):
    """One try that is worth another."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Bounds of the retries of one message: tries, and seconds over all of them."""

    attempts: int = 8
    timeout_s: float = 60.0
    first_wait_s: float = 0.25


#: A heartbeat that is late is worth nothing: the next one is due soon.
ONCE = RetryPolicy(attempts=1)


class RelayClient:
    """One worker's connection to the relay. Safe to use from several threads, as httpx's client is.

    `transport` is the seam: tests hand in another one, production leaves it out.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: httpx.BaseTransport | None = None,
        retry: RetryPolicy | None = None,
        timeout_s: float = 20.0,
    ) -> None:
        self.url = url.rstrip("/")
        self._retry = retry or RetryPolicy()
        self._http = httpx.Client(
            base_url=self.url,
            transport=transport,
            timeout=timeout_s,
            headers={"Authorization": f"Bearer {token}"},
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def lease(self, identity: LeaseRequest) -> Lease | None:
        """The next due shard, or None when nothing is due. Each call is a question of its own, whose tries are all
        answered with one lease: an answer that is lost leaves no shard behind that nobody works on."""
        question = identity.model_copy(update={"request": secrets.token_hex(16)})
        response = self._post("/api/v1/worker/lease", question, self._retry)
        return None if response.status_code == 204 else _read(Lease, response)

    def heartbeat(self, lease: Lease, progress: str) -> HeartbeatReply:
        """Renew a lease, without retries."""
        body = Heartbeat(lease_id=lease.lease_id, progress=progress)
        return _read(HeartbeatReply, self._post(_shard(lease, "heartbeat"), body, ONCE))

    def present(self, message: WorkerPresent) -> PresenceReply:
        """Say that the worker is there, or that it goes, without retries."""
        return _read(PresenceReply, self._post("/api/v1/worker/presence", message, ONCE))

    def post_selection(self, lease: Lease, report: SelectionReport) -> None:
        self._accepted(_shard(lease, "selection"), SelectionPosted(lease_id=lease.lease_id, report=report))

    def post_results(self, lease: Lease, sequence: int, results: tuple[TestResult, ...]) -> None:
        """Post a batch. `sequence` stays the same over all tries of it."""
        body = ResultsPosted(lease_id=lease.lease_id, sequence=sequence, results=results)
        self._accepted(_shard(lease, "results"), body)

    def post_log(self, lease: Lease, first: int, lines: tuple[LogLine, ...]) -> LogTaken:
        """Post lines of a shard's log, of which `first` were sent before, without retries."""
        body = LogPosted(lease_id=lease.lease_id, first=first, lines=lines)
        return _read(LogTaken, self._post(_shard(lease, "log"), body, ONCE))

    def finish(self, lease: Lease, outcome: ShardOutcome, error: str = "") -> None:
        body = ShardFinished(lease_id=lease.lease_id, outcome=outcome, error=error)
        self._accepted(_shard(lease, "finish"), body)

    def observed_operators(self, asked: OperatorsAsked) -> ObservedOperators:
        """Which tests were seen to use some operators on a device."""
        return _read(ObservedOperators, self._post("/api/v1/worker/operators", asked, self._retry))

    def past(self, asked: PastAsked) -> Past:
        """How long the tests of some files took on a device."""
        return _read(Past, self._post("/api/v1/worker/past", asked, self._retry))

    def _accepted(self, path: str, body: BaseModel) -> None:
        _read(Accepted, self._post(path, body, self._retry))

    def _post(self, path: str, body: BaseModel, retry: RetryPolicy) -> httpx.Response:
        content = body.model_dump_json().encode()
        try:
            for attempt in stamina.retry_context(
                on=_TransientError,
                attempts=retry.attempts,
                timeout=retry.timeout_s,
                wait_initial=retry.first_wait_s,
                wait_jitter=retry.first_wait_s,
            ):
                with attempt:
                    return self._try(path, content)
        except _TransientError as error:
            raise RelayUnavailableError(f"The relay at {self.url} could not be reached: {error}") from error
        raise AssertionError("a retry loop ends by returning or raising")

    def _try(self, path: str, content: bytes) -> httpx.Response:
        try:
            response = self._http.post(path, content=content, headers={"Content-Type": "application/json"} | _trace())
        except httpx.TransportError as error:
            raise _TransientError(f"{type(error).__name__}: {error}") from error
        if response.status_code >= 500 or response.status_code in _TRIED_AGAIN:
            raise _TransientError(f"HTTP {response.status_code}")
        if response.status_code in {401, 403}:
            raise RelayRefusedError(
                f"The relay at {self.url} does not accept this worker's token (HTTP {response.status_code}). "
                "Set RELAY_WORKER_TOKEN (or RELAY_WORKER_TOKEN_FILE) to the relay's worker token."
            )
        if response.status_code == 409:
            raise LeaseLostError(_quote(response))
        if not response.is_success:
            raise RelayRefusedError(
                f"The relay refused {path} with HTTP {response.status_code}: {_quote(response)} "
                "Check that RELAY_URL points to a relay of the same version."
            )
        return response


def _trace() -> dict[str, str]:
    """What the relay's spans of this request belong to."""
    present = present_traceparent()
    return {HEADER: present} if present else {}


def _shard(lease: Lease, verb: str) -> str:
    return f"/api/v1/worker/shards/{lease.shard_id}/{verb}"


def _read(model: type[M], response: httpx.Response) -> M:
    try:
        return model.model_validate_json(response.content)
    except ValidationError as error:
        raise RelayRefusedError(
            f"The answer to {response.request.url.path} is not a {model.__name__} ({error.error_count()} problems). "
            "Check that RELAY_URL points to a relay of the same version."
        ) from None


def _quote(response: httpx.Response) -> str:
    return " ".join(response.text.split())[:_QUOTE_CAP]
