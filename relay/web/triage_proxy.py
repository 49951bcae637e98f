"""The model behind stage 3, as workers see it: an OpenAI-compatible endpoint that needs only the worker token.

Owns the key and the choice of the model, which a worker can neither read nor change. Bodies hold untrusted text in
both directions: they are capped, passed on unread, and never logged.
Source of the shape: https://platform.openai.com/docs/api-reference/chat/create
"""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import structlog
from fastapi import APIRouter
from fastapi.responses import Response

from relay.context import Context
from relay.errors import ConflictError, ModelFailedError, ModelRefusedError, ModelTimeoutError
from relay.settings import RelaySettings
from relay.web.auth import WorkerOnly

_log = structlog.get_logger(__name__)

ANSWER_CAP = 2 * 1024 * 1024
_CONNECT_S = 10.0
#: Answers to a request in a form the server does not know: the worker may ask in another form.
_NOT_TAKEN = frozenset({400, 422})


class _DeadlineError(Exception):
    """The answer drips in: each part in time, the whole too late."""


router = APIRouter(prefix="/api/v1/worker/triage", tags=["worker"], dependencies=[WorkerOnly])


@router.post("/chat/completions")
def chat_completions(context: Context, wanted: dict[str, Any]) -> Response:
    """Asks the configured model, whatever model the worker named, and returns its answer in one piece."""
    settings = context.settings
    if not settings.llm_configured:
        raise ConflictError(
            "No model is configured for triage.",
            "Set RELAY_LLM_BASE_URL and RELAY_LLM_MODEL, or let the offline ranker decide.",
            code="no_model",
        )
    answer = _ask(settings, {**wanted, "model": settings.llm_model, "stream": False})
    return Response(answer, media_type="application/json")


def _ask(settings: RelaySettings, body: dict[str, Any]) -> bytes:
    headers = {}
    if settings.llm_api_key is not None:
        headers["Authorization"] = f"Bearer {settings.llm_api_key.get_secret_value()}"
    timeout = httpx.Timeout(settings.llm_timeout_s, connect=min(_CONNECT_S, settings.llm_timeout_s))
    url = f"{settings.llm_base_url}/chat/completions"
    try:
        with (
            httpx.Client(timeout=timeout) as client,
            client.stream("POST", url, json=body, headers=headers) as response,
        ):
            return _answer(response, time.monotonic() + settings.llm_timeout_s)
    except (httpx.TimeoutException, _DeadlineError) as error:
        raise ModelTimeoutError(
            f"The model did not answer within {settings.llm_timeout_s:g} seconds.",
            "Raise RELAY_LLM_TIMEOUT_S, or look at the model's server.",
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        _log.warning("triage_model_unreachable", fault=type(error).__name__)
        raise ModelFailedError(
            f"The model cannot be reached ({type(error).__name__}).", "Check RELAY_LLM_BASE_URL."
        ) from error


def _answer(response: httpx.Response, deadline: float) -> bytes:
    if response.status_code in _NOT_TAKEN:
        raise ModelRefusedError(f"The model's server refused the request with HTTP {response.status_code}.")
    if response.status_code != 200:
        _log.warning("triage_model_refused", status=response.status_code)
        raise ModelFailedError(
            f"The model's server answered with HTTP {response.status_code}.",
            "Check RELAY_LLM_API_KEY, RELAY_LLM_MODEL and the model's server.",
        )
    content = bytearray()
    for part in response.iter_bytes():
        content += part
        if time.monotonic() > deadline:
            raise _DeadlineError
        if len(content) > ANSWER_CAP:
            raise ModelFailedError(f"The model's answer is larger than {ANSWER_CAP} bytes.", "Ask for less at once.")
    try:
        json.loads(content)
    except ValueError as error:
        raise ModelFailedError("The model's server did not answer with JSON.", "Check RELAY_LLM_BASE_URL.") from error
    return bytes(content)
