"""Posting JSON to a model's server: one request, one bounded answer.

Owns time, size and error limits of a call, for every provider. The key is in no message, error or `repr`; redirects are
not followed, because they would carry it elsewhere.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from selector.triage.conversation import LlmError

#: Bytes of one answer; 120 verdicts with reasons have about 30 kB.
ANSWER_CAP = 256 * 1024
#: Answers to a request in a form the server does not know, for example one with `response_format`.
REFUSED = frozenset({400, 422})
_JSON = {"Content-Type": "application/json"}


class FormRefusedError(LlmError):
    """The server understood none of the forms a request was put in."""


class Poster:
    """Posts to one URL. `timeout_s` bounds each wait and the answer as a whole."""

    def __init__(
        self, url: str, headers: Mapping[str, str], timeout_s: float, transport: httpx.BaseTransport | None
    ) -> None:
        self.url = url
        self._timeout_s = timeout_s
        # A talk is a few requests with long thoughts between them: connections kept open would be left behind.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.Client(headers={**headers, **_JSON}, timeout=timeout_s, transport=transport, limits=limits)

    def close(self) -> None:
        """Close idle connections."""
        self._http.close()

    def first_taken(self, forms: Iterator[Mapping[str, Any]], timeout_s: float) -> dict[str, Any]:
        """The answer to the first form of a request that the server takes, all within one time limit. Raises
        `FormRefusedError` when it takes none of them, and `LlmError` for every other failure."""
        wait = max(0.0, min(timeout_s, self._timeout_s))
        deadline = time.monotonic() + wait
        status, body = 0, b""
        with _as_llm_errors():
            for form in forms:
                status, body = self._post(form, deadline)
                if status not in REFUSED:
                    break
        if status in REFUSED:
            raise FormRefusedError(f"model answered HTTP {status}")
        return _document(status, body)

    def _post(self, body: Mapping[str, Any], deadline: float) -> tuple[int, bytes]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise LlmError("model timed out")
        with self._http.stream("POST", self.url, content=_encoded(body), timeout=left) as response:
            content = bytearray()
            for chunk in response.iter_bytes():
                content += chunk
                if len(content) > ANSWER_CAP:
                    raise LlmError("model answer too long")
                if time.monotonic() > deadline:  # a server that drips resets the timeout of each wait
                    raise LlmError("model timed out")
            return response.status_code, bytes(content)


@contextmanager
def _as_llm_errors() -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException as error:
        raise LlmError("model timed out") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise LlmError("model not reachable") from error


def _encoded(body: Mapping[str, Any]) -> bytes:
    """In ASCII: text of a change or a model may hold half of a surrogate pair, which UTF-8 cannot carry."""
    return json.dumps(body).encode("ascii")


def _document(status: int, body: bytes) -> dict[str, Any]:
    if status == httpx.codes.GATEWAY_TIMEOUT:  # something between us and the model waited in our place
        raise LlmError("model timed out")
    if status != httpx.codes.OK:
        raise LlmError(f"model answered HTTP {status}")
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise LlmError("model answer has no message") from error
    if not isinstance(document, dict):
        raise LlmError("model answer has no message")
    return document
