"""The envelope key `crcr`: a proof, made for one backend, that a callback answers what was sent to that backend.

A delivery's id is the same for all backends, so it proves nothing. The proof is signed with a key derived from the
webhook secret: whoever reads the record cannot make one. Source: crcr-protocol 8, W4.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch

KEY = "crcr"
_PURPOSE = b"crcr nonce, version 1"


class NonceCheck(StrEnum):
    """What an echoed proof is worth. `unasked`: this dispatch carried none, so there is none to be given back."""

    UNASKED = "unasked"
    ABSENT = "absent"
    WRONG = "wrong"
    VALID = "valid"


def new_nonce() -> str:
    """The random part, kept with the dispatch."""
    return secrets.token_urlsafe(18)


def envelope_key(settings: RelaySettings, dispatch: Dispatch) -> dict[str, Any]:
    """What the envelope of this dispatch holds under `KEY`; the same each time it is sent."""
    return {
        "nonce": _signed(settings, dispatch),
        "dispatch_id": dispatch.id,
        "issued_at": dispatch.queued_at.isoformat(),
    }


def check_nonce(settings: RelaySettings, dispatch: Dispatch, echoed: object) -> NonceCheck:
    """Judge what a callback gives back under `KEY`. Only the nonce counts; the rest is for people to read."""
    if not dispatch.nonce:
        return NonceCheck.UNASKED
    given = echoed.get("nonce") if isinstance(echoed, Mapping) else None
    if given is None:
        return NonceCheck.ABSENT
    if not isinstance(given, str):
        return NonceCheck.WRONG
    expected = _signed(settings, dispatch).encode()
    same = hmac.compare_digest(expected, given.encode("utf-8", "surrogatepass"))
    return NonceCheck.VALID if same else NonceCheck.WRONG


def _signed(settings: RelaySettings, dispatch: Dispatch) -> str:
    # A list has one reading only, whatever the parts hold.
    told = json.dumps([dispatch.id, dispatch.delivery_id, dispatch.repo_key, dispatch.nonce])
    signature = hmac.new(_signing_key(settings), told.encode(), hashlib.sha256).hexdigest()
    return f"{dispatch.nonce}.{signature}"


def _signing_key(settings: RelaySettings) -> bytes:
    secret = settings.webhook_secret
    if secret is None:
        raise ValueError("with_secrets() fills the webhook secret in before anything is signed")
    return hmac.new(secret.get_secret_value().encode(), _PURPOSE, hashlib.sha256).digest()
