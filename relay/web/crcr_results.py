"""`POST /api/crcr/results`: take in results that a relay forwards, ours or another's (crcr-protocol 1.6).

Owns the door: the shared key, the body's form, and that a failing store is answered as such. Errors are
`{"error": ...}`, as relays read them.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Mapping
from typing import Any

import structlog
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import SecretStr
from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool

from relay.context import Context, RelayContext
from relay.crcr.triage_verdict import clean_verdict
from relay.hud import untrusted
from relay.hud.errors import HudError
from relay.hud.recording import RecordedResult, record_result
from relay.web.protocol_words import RESULTS_ANSWERS, RESULTS_ASKED

_log = structlog.get_logger(__name__)

KEY_HEADER = "x-hud-internal-bot"

router = APIRouter(prefix="/api/crcr", tags=["results"])


@router.post(
    "/results",
    summary="Take in a result that a relay forwards",
    responses=RESULTS_ANSWERS,
    openapi_extra=RESULTS_ASKED,
)
async def receive(request: Request, context: Context) -> JSONResponse:
    """Answers when the result is stored. The body's content type does not matter: it is JSON by any name."""
    body = await request.body()
    recorded = await run_in_threadpool(_take_in, context, request.headers.get(KEY_HEADER, ""), body)
    return JSONResponse({"ok": True, "status": recorded.status, "dynamoKey": recorded.key})


def _take_in(context: RelayContext, key: str, body: bytes) -> RecordedResult:
    if not _opens(context.settings.hud_intake_key, key):
        raise HudError(401, "Unauthorized")
    envelope = _decode(body)
    try:
        with context.store.writing() as session:
            return record_result(
                session,
                envelope,
                context.now(),
                triage_verdict=_verdict(envelope),
                strict=context.settings.crcr_strict_compat,
            )
    except SQLAlchemyError as error:
        # The relay that forwards tries again after a 5xx, so that a store that is back has the result after all.
        _log.error("result_not_stored", fault=type(error).__name__)
        raise HudError(500, "Internal error writing to the results store") from error


def _opens(expected: SecretStr | None, key: str) -> bool:
    """Without a key of our own nobody may post."""
    if expected is None or not expected.get_secret_value():
        return False
    return hmac.compare_digest(key.encode(), expected.get_secret_value().encode())


def _decode(body: bytes) -> Mapping[str, Any]:
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HudError(400, "Invalid JSON") from error
    if not isinstance(envelope, dict):
        raise HudError(400, "The body is JSON, but not an object")
    return envelope


def _verdict(envelope: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The backend's triage verdict, when it is a valid one."""
    callback = untrusted.mapping(untrusted.mapping(envelope.get("untrusted")).get("callback_payload"))
    return clean_verdict(untrusted.mapping(callback.get("workflow")).get("triage_verdict"))
