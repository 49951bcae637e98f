"""The webhook signature: HMAC-SHA256 over the raw body.

It sees bytes and headers only, and judges them before anything is parsed.
Source: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
"""

from __future__ import annotations

import hashlib
import hmac

SIGNATURE_HEADER = "X-Hub-Signature-256"
_SCHEME = "sha256="


class SignatureMissingError(Exception):
    """The request carries no signature header."""


class SignatureMismatchError(Exception):
    """The signature was not made with our secret over this body."""


def sign(secret: str, body: bytes) -> str:
    """The header value for a body, as GitHub sends it.

    Raises:
        ValueError: the secret is empty; anybody could sign with that.
    """
    if not secret:
        raise ValueError("the webhook secret is empty; set RELAY_WEBHOOK_SECRET")
    return _SCHEME + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def check_signature(secret: str, body: bytes, header: str | None) -> None:
    """Accept the body, or raise.

    Raises:
        SignatureMissingError: there is no header, or it is empty.
        SignatureMismatchError: the header is something else than our own signature, down to the letter case.
    """
    if not header:
        raise SignatureMissingError
    # compare_digest refuses non-ASCII strings; bytes compare in constant time whatever they hold.
    if not hmac.compare_digest(sign(secret, body).encode(), header.encode("utf-8", "surrogateescape")):
        raise SignatureMismatchError
