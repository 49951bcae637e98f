"""What a relay dispatches (crcr-protocol 1.3), read from where a backend finds it: GitHub's event file or a webhook.

Untrusted: strict about the three keys that are used, blind to others, which are kept because an answer echoes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Of an event's name, as GitHub allows.
EVENT_CAP = 100
DELIVERY_CAP = 180


class EnvelopeError(Exception):
    """This is no dispatch of a relay. The message says what is missing, and where it is looked for."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One dispatch. `echo` is the whole of it, to be sent back unchanged."""

    event_type: str
    delivery_id: str
    payload: Mapping[str, Any] = field(repr=False)
    echo: Mapping[str, Any] = field(repr=False)


def read_envelope(text: str | bytes) -> Envelope:
    """The envelope in a text: GitHub's `repository_dispatch` event, whose `client_payload` it is, or it alone.

    Raises:
        EnvelopeError: the text is something else.
    """
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EnvelopeError(f"not JSON: {error}") from error
    if not isinstance(document, dict):
        raise EnvelopeError("not a JSON object")
    return envelope_of(document)


def envelope_of(document: Mapping[str, Any]) -> Envelope:
    """The same from decoded JSON.

    Raises:
        EnvelopeError: a key is missing or of another kind.
    """
    echo = document.get("client_payload", document)
    if not isinstance(echo, dict):
        raise EnvelopeError("`client_payload` is null: this event was not dispatched by a relay")
    payload = echo.get("payload")
    if not isinstance(payload, dict):
        raise EnvelopeError("`payload` is no object; a relay's dispatch has event_type, delivery_id and payload")
    event_type, delivery_id = _word(echo, "event_type", EVENT_CAP), _word(echo, "delivery_id", DELIVERY_CAP)
    return Envelope(event_type, delivery_id, payload, echo)


def _word(echo: Mapping[str, Any], key: str, cap: int) -> str:
    value = echo.get(key)
    if not isinstance(value, str) or not value or len(value) > cap or not value.isprintable():
        raise EnvelopeError(f"`{key}` is no text of 1 to {cap} characters")
    return value
