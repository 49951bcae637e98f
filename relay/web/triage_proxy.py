"""The model behind stage 3, as workers see it: its own interface, which here needs only the worker token.

Owns the key and the choice of the model, which a worker can neither read nor change, and bounds the length of an
answer. Which of the two interfaces is served is the setting of the provider. Bodies hold untrusted text in both
directions: they are capped, passed on unread, and never logged.
Sources of the shapes: https://platform.openai.com/docs/api-reference/chat/create and
https://docs.anthropic.com/en/api/messages
"""

from __future__ import annotations

import json
import time
from typing import Annotated, Any

import httpx
import structlog
from fastapi import APIRouter, Body
from fastapi.responses import Response

from relay.context import Context
from relay.errors import ConflictError, ModelFailedError, ModelRefusedError, ModelTimeoutError
from relay.settings import RelaySettings
from relay.web.auth import WorkerOnly
from relay.web.refusals import Responses, answers, refuses

_log = structlog.get_logger(__name__)

ANSWER_CAP = 2 * 1024 * 1024
_CONNECT_S = 10.0
_ANTHROPIC_VERSION = "2023-06-01"
#: What bounds the length of an answer, in the words of either interface.
_BOUNDS = ("max_tokens", "max_completion_tokens")
#: Answers to a request in a form the server does not know: the worker may ask in another form.
_NOT_TAKEN = frozenset({400, 422})


class _DeadlineError(Exception):
    """The answer drips in: each part in time, the whole too late."""


router = APIRouter(prefix="/api/v1/worker/triage", tags=["worker"], dependencies=[WorkerOnly])


_NO_MODEL = ConflictError(
    "No model is configured for triage over this interface.",
    "Set RELAY_LLM_BASE_URL, RELAY_LLM_MODEL and RELAY_LLM_PROVIDER, or let the offline ranker decide.",
    code="no_model",
)
_REFUSALS = refuses(
    _NO_MODEL,
    ModelRefusedError("The model's server refused the request with HTTP 400."),
    ModelFailedError("The model cannot be reached (ConnectError).", "Check RELAY_LLM_BASE_URL."),
    ModelTimeoutError("The model did not answer within 60 seconds.", "Raise RELAY_LLM_TIMEOUT_S."),
)
_QUESTION = [{"role": "user", "content": "Which of these tests can this change affect?"}]
_CHAT = {"model": "any", "messages": _QUESTION, "max_tokens": 800}
_ANSWER = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "[3, 7]"}, "finish_reason": "stop"}]}
_MESSAGE = {"role": "assistant", "content": [{"type": "text", "text": "[3, 7]"}], "stop_reason": "end_turn"}


def _answers(example: dict[str, Any]) -> Responses:
    """An answer of the model's interface, passed on unread."""
    return answers(example, type="object") | _REFUSALS


@router.post("/chat/completions", summary="Ask the model, in OpenAI's form", responses=_answers(_ANSWER))
def chat_completions(context: Context, wanted: Annotated[dict[str, Any], Body(examples=[_CHAT])]) -> Response:
    """Asks the configured model, whatever model the worker named, and returns its answer in one piece."""
    return _ask(_configured(context.settings, "openai"), "/chat/completions", wanted)


@router.post("/messages", summary="Ask the model, in Anthropic's form", responses=_answers(_MESSAGE))
def messages(context: Context, wanted: Annotated[dict[str, Any], Body(examples=[_CHAT])]) -> Response:
    """Asks the configured model of the provider `anthropic`, whatever model the worker named."""
    return _ask(_configured(context.settings, "anthropic"), "/messages", wanted)


def _configured(settings: RelaySettings, provider: str) -> RelaySettings:
    if not settings.llm_configured or settings.llm_provider != provider:
        raise ConflictError(_NO_MODEL.message, _NO_MODEL.hint, code=_NO_MODEL.code)
    return settings


def _credentials(settings: RelaySettings) -> dict[str, str]:
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key is not None else ""
    if settings.llm_provider == "anthropic":
        return {"anthropic-version": _ANTHROPIC_VERSION, **({"x-api-key": key} if key else {})}
    return {"Authorization": f"Bearer {key}"} if key else {}


def _bounded(settings: RelaySettings, wanted: dict[str, Any]) -> bytes:
    """The worker's request for our model, with an answer no longer than the settings allow. In ASCII: text of a change
    may hold half of a surrogate pair, which UTF-8 cannot carry."""
    body = {**wanted, "model": settings.llm_model, "stream": False}
    for bound in _BOUNDS:
        if bound in body:
            asked = body[bound]
            fits = isinstance(asked, int) and 0 < asked <= settings.llm_answer_tokens
            body[bound] = asked if fits else settings.llm_answer_tokens
    return json.dumps(body).encode("ascii")


def _ask(settings: RelaySettings, path: str, wanted: dict[str, Any]) -> Response:
    timeout = httpx.Timeout(settings.llm_timeout_s, connect=min(_CONNECT_S, settings.llm_timeout_s))
    headers = {"Content-Type": "application/json", **_credentials(settings)}
    body = _bounded(settings, wanted)
    try:
        with (
            httpx.Client(timeout=timeout) as client,
            client.stream("POST", f"{settings.llm_base_url}{path}", content=body, headers=headers) as response,
        ):
            answer = _answer(response, time.monotonic() + settings.llm_timeout_s)
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
    return Response(answer, media_type="application/json")


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
