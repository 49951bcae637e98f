"""Posting a callback until it is heard: retries what may pass, and takes a repeat's refusal for what it is.

Owns retries and the reading of answers; never gives up silently. Source: crcr-protocol 3.3 and 1.11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import stamina

from relay.failures import Failure

#: How the original says that it knows this report already (crcr-protocol 3.2).
_HEARD_BEFORE = "invalid state transition"
_ANSWER_SHOWN = 500
_TOO_MANY = 429
_LONGEST_WAIT_S = 120.0


class NotHeard(Failure):
    """The relay refused the report, or did not answer."""

    code = "not_heard"


@dataclass(frozen=True, slots=True)
class Heard:
    """The relay has the report. `ignored`: it does not listen to this repository; `repeated`: it had it before."""

    ignored: bool = False
    repeated: bool = False
    reason: str = ""


class _PassingError(Exception):
    """No answer that counts, yet: the same report may be heard later."""

    def __init__(self, reason: str, after_s: float | None = None) -> None:
        super().__init__(reason)
        self.after_s = after_s


class Reporter:
    """Posts to one relay. `token` gives a fresh bearer token for every try, for one lives minutes only."""

    def __init__(
        self,
        callback_url: str,
        token: Callable[[], str],
        *,
        timeout_s: float = 10.0,
        attempts: int = 8,
        patience_s: float = 600.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._url = callback_url.rstrip("/")
        self._token = token
        self._attempts = attempts
        self._patience_s = patience_s
        self._http = httpx.Client(timeout=timeout_s, transport=transport)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, body: Mapping[str, Any]) -> Heard:
        """Post the report, again and again while that can help.

        Raises:
            NotHeard: it was refused, or nobody answered in time.
        """
        try:
            for attempt in stamina.retry_context(
                on=_pause, attempts=self._attempts, timeout=self._patience_s, wait_max=_LONGEST_WAIT_S
            ):
                with attempt:
                    return self._post(body, again=attempt.num > 1)
        except _PassingError as error:
            raise NotHeard(f"the relay at {self._url} did not take the report: {error}", _PASSING_HINT) from error
        raise AssertionError("a retry context ends by an answer or an error")

    def _post(self, body: Mapping[str, Any], *, again: bool) -> Heard:
        try:
            reply = self._http.post(self._url, json=body, headers={"Authorization": f"Bearer {self._token()}"})
        except httpx.TransportError as error:
            raise _PassingError(str(error) or type(error).__name__) from error
        if reply.is_success:
            return _heard(reply)
        detail = _detail(reply)
        if reply.status_code == _TOO_MANY or reply.is_server_error:
            raise _PassingError(f"{reply.status_code} {detail}", _retry_after(reply))
        if again and _HEARD_BEFORE in detail:
            # An earlier try arrived and its answer was lost on the way.
            return Heard(repeated=True, reason=detail)
        raise NotHeard(f"the relay refused the report: {reply.status_code} {detail}", _REFUSED_HINT)


_PASSING_HINT = "the job's result is not lost: run the reporting step again"
_REFUSED_HINT = "compare the callback address, the job's names and the id-token permission with the relay's guide"


def _pause(error: Exception) -> bool | timedelta:
    if not isinstance(error, _PassingError):
        return False
    return True if error.after_s is None else timedelta(seconds=min(error.after_s, _LONGEST_WAIT_S))


def _heard(reply: httpx.Response) -> Heard:
    answer = _object(reply)
    return Heard(
        ignored=answer.get("status") == "ignored",
        repeated=answer.get("duplicate") is True,
        reason=str(answer.get("reason") or "")[:_ANSWER_SHOWN],
    )


def _detail(reply: httpx.Response) -> str:
    return str(_object(reply).get("detail") or reply.text)[:_ANSWER_SHOWN]


def _object(reply: httpx.Response) -> Mapping[str, Any]:
    try:
        answer = reply.json()
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _retry_after(reply: httpx.Response) -> float | None:
    """Whole seconds; the other form, a date, is as good as none for so short a wait."""
    value = reply.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() and len(value) < 7 else None
