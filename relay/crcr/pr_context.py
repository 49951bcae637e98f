"""Which pull request and which commit a webhook of upstream's is about. Pure; never raises over a payload.

Source: crcr-protocol 1.2 (ciflow tags) and 6.14, PX.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from relay.store.crcr_models import SHA_CAP

#: Only this tag is pushed for one pull request at exactly its head.
_TRUNK_TAG = re.compile(r".*/ciflow/trunk/(\d{1,10})")
_COMMIT = re.compile(r"[0-9A-Za-z]+")
_ZEROS = re.compile(r"0+")
#: What the databases' integer columns hold.
_LARGEST_NUMBER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class UpstreamContext:
    """`pr_number` is None and `head_sha` is empty where the event tells of none."""

    pr_number: int | None = None
    head_sha: str = ""


def upstream_context(event: str, payload: Mapping[str, Any]) -> UpstreamContext:
    """The context of a `pull_request` or `push` payload; the empty one for others."""
    if event == "pull_request":
        return _of_pull(payload)
    return _of_push(payload) if event == "push" else UpstreamContext()


def label_names(payload: Mapping[str, Any]) -> frozenset[str]:
    """The labels that a pull request has already."""
    labels = part(payload, "pull_request").get("labels")
    named = [label.get("name") for label in labels if isinstance(label, dict)] if isinstance(labels, list) else []
    return frozenset(name for name in named if isinstance(name, str))


def part(payload: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object within an object; an empty one stands in for anything else."""
    value = payload.get(key)
    return value if isinstance(value, Mapping) else {}


def _of_pull(payload: Mapping[str, Any]) -> UpstreamContext:
    pull = part(payload, "pull_request")
    number = _number(pull.get("number"))
    return UpstreamContext(number or _number(payload.get("number")), _sha(part(pull, "head").get("sha")))


def _of_push(payload: Mapping[str, Any]) -> UpstreamContext:
    after, ref = _sha(payload.get("after")), payload.get("ref")
    tag = _TRUNK_TAG.fullmatch(ref) if isinstance(ref, str) and after else None
    return UpstreamContext(_number(int(tag.group(1))) if tag else None, after)


def _sha(value: object) -> str:
    """A commit's id. All zeros mean that there is none: the ref was deleted."""
    if not isinstance(value, str) or len(value) > SHA_CAP or not _COMMIT.fullmatch(value):
        return ""
    return "" if _ZEROS.fullmatch(value) else value


def _number(value: object) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and isinstance(value, int) and 0 < value <= _LARGEST_NUMBER else None
