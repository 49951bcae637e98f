"""HTTP answers from outside, read with bounds: how long one may take in all, and how long it may be.

Owns the client's construction and the reading of a body. It judges no status and follows no redirect: whoever asks
knows what an answer means.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

import httpx

from relay.client import authorities, is_loopback

#: An answer may come in pieces, each within the client's timeout; all of them together within this many seconds.
WHOLE_ANSWER_S = 60.0


class AnswerTooLongError(httpx.TransportError):
    """The body is over its cap; what came of it is thrown away."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. The body is not in the repr: answers carry tokens."""

    status: int
    headers: httpx.Headers = field(repr=False)
    body: bytes = field(repr=False)

    def json(self) -> object:
        """The body's value, None when it is not JSON or nested beyond reason."""
        try:
            value: object = json.loads(self.body)
        except (ValueError, RecursionError):
            return None
        return value


def open_client(
    address: str,
    *,
    timeout_s: float,
    transport: httpx.BaseTransport | None = None,
    headers: Mapping[str, str] | None = None,
) -> httpx.Client:
    """A client for the server at `address`; `transport` replaces the network. It may be used by several threads."""
    # A proxy from the environment must not come between two programs of one machine.
    return httpx.Client(
        transport=transport,
        timeout=timeout_s,
        headers=headers,
        follow_redirects=False,
        verify=authorities(),
        trust_env=not is_loopback(address),
    )


def ask(client: httpx.Client, request: httpx.Request, cap: int) -> Answer:
    """Send a request and read its answer, at most `cap` bytes of it.

    Raises:
        httpx.HTTPError: no answer, half an answer, one that takes too long, or `AnswerTooLongError`.
    """
    deadline = time.monotonic() + WHOLE_ANSWER_S
    response = client.send(request, stream=True)
    body = bytearray()
    try:
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > cap:
                raise AnswerTooLongError(f"the answer is longer than {cap} bytes", request=request)
            if time.monotonic() > deadline:
                raise httpx.ReadTimeout(f"the answer takes longer than {WHOLE_ANSWER_S:.0f} s", request=request)
    finally:
        response.close()
    return Answer(response.status_code, response.headers, bytes(body))
