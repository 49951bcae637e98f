"""What a webhook of upstream's asks the relay to do for backends, told by event, action, label and ref. Pure.

Source: crcr-protocol 1.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from relay.crcr.labels import PREFIX
from relay.crcr.pr_context import part
from relay.crcr.push_refs import why_not_told
from relay.settings import RelaySettings

#: `closed` too: what to do about it is the backends' business. No set: what stands there may have no hash.
_TOLD_ACTIONS = ("opened", "reopened", "synchronize", "closed")
_CHECK_EVENTS = frozenset({"check_run", "check_suite"})


class Asked(StrEnum):
    """`dispatch`: tell backends. `label`: show checks that a label asks for. `rerun`: start runs again."""

    NOTHING = "nothing"
    DISPATCH = "dispatch"
    LABEL = "label"
    RERUN = "rerun"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A webhook that was judged genuine and is about upstream. `delivery_id` is its identity."""

    event: str
    delivery_id: str
    body: bytes = field(repr=False)
    payload: Mapping[str, Any] = field(repr=False)


def asked_by(settings: RelaySettings, incoming: Incoming) -> tuple[Asked, str]:
    """What is asked for; with nothing, why."""
    if incoming.event == "push":
        return _by_push(settings, incoming.payload)
    action = incoming.payload.get("action")
    if incoming.event == "pull_request":
        return _by_pull_request(action, incoming.payload)
    if incoming.event in _CHECK_EVENTS and action == "rerequested":
        return Asked.RERUN, ""
    return Asked.NOTHING, ""


def _by_push(settings: RelaySettings, payload: Mapping[str, Any]) -> tuple[Asked, str]:
    reason = "" if settings.crcr_strict_compat else why_not_told(payload, settings.crcr_push_refs)
    return (Asked.NOTHING, reason) if reason else (Asked.DISPATCH, "")


def _by_pull_request(action: object, payload: Mapping[str, Any]) -> tuple[Asked, str]:
    if action in _TOLD_ACTIONS:
        return Asked.DISPATCH, ""
    label = part(payload, "label").get("name")
    if action == "labeled" and isinstance(label, str) and label.startswith(PREFIX):
        return Asked.LABEL, ""
    return Asked.NOTHING, ""
