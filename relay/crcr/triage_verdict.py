"""What a backend says about why its job failed (`workflow.triage_verdict`, crcr-protocol 1.12), checked and cut.

Advisory only, so a verdict that is not well formed is dropped whole and never costs the callback. Texts in it come from
a model or a log: they are capped here and to be escaped wherever they are shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

import structlog

VERDICT_KEY = "triage_verdict"
CATEGORIES = frozenset({"upstream", "backend", "infra", "flake", "unknown"})
CONFIDENCES = frozenset({"high", "medium", "low"})

_BYTES_CAP = 16 * 1024
_SUMMARY_CAP = 1_000
_REASON_CAP = 300
_NAME_CAP = 200
_URL_CAP = 500
_EVIDENCE_CAP = 10

_COMMIT = re.compile(r"[0-9a-fA-F]{7,40}")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Whitespace and control characters: a browser drops some of them, and then the link is another one.
_NOT_IN_URLS = re.compile(r"[\s\x00-\x20\x7f-\x9f\ud800-\udfff]")

_log = structlog.get_logger(__name__)


class _MalformedError(Exception):
    """The verdict is not one. The message names the place, never the content."""


def with_clean_verdict(body: Mapping[str, Any]) -> dict[str, Any]:
    """The same callback body with its verdict checked: cut to size, or gone. A body without one stays as it is."""
    workflow = body.get("workflow")
    if not isinstance(workflow, dict) or VERDICT_KEY not in workflow:
        return dict(body)
    verdict = clean_verdict(workflow[VERDICT_KEY])
    others = {key: value for key, value in workflow.items() if key != VERDICT_KEY}
    return {**body, "workflow": others if verdict is None else {**others, VERDICT_KEY: verdict}}


def clean_verdict(value: object) -> dict[str, Any] | None:
    """The verdict with known keys only and long texts cut; None when there is none or when it is malformed."""
    if value is None:
        return None
    try:
        return _verdict(_bounded(value))
    except _MalformedError as problem:
        _log.warning("triage_verdict_dropped", problem=str(problem))
        return None


def _bounded(value: object) -> Mapping[str, Any]:
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))
    if size > _BYTES_CAP:
        raise _MalformedError(f"larger than {_BYTES_CAP} bytes")
    return _mapping(value, VERDICT_KEY)


def _verdict(given: Mapping[str, Any]) -> dict[str, Any]:
    category = _word(given, "category", CATEGORIES)
    clean = {
        "schema_version": _version(given.get("schema_version")),
        "category": category,
        "confidence": _word(given, "confidence", CONFIDENCES),
        "summary": _summary(given.get("summary")),
    }
    if given.get("suspected_upstream") is not None and category != "upstream":
        raise _MalformedError("suspected_upstream of another category than upstream")
    return clean | _optional(given, _OPTIONAL)


#: Takes the value of a key and gives back what is kept of it, or raises.
_Reader = Callable[[object, str], Any]


def _optional(given: Mapping[str, Any], readers: Mapping[str, _Reader]) -> dict[str, Any]:
    """What is there of the optional keys; null and what is empty after reading count as absent."""
    read = {key: reader(given[key], key) for key, reader in readers.items() if given.get(key) is not None}
    return {key: value for key, value in read.items() if value not in ({}, [])}


def _version(value: object) -> int:
    if isinstance(value, bool) or str(value).strip() not in ("1", "1.0"):
        raise _MalformedError("schema_version is not 1")
    return 1


def _word(given: Mapping[str, Any], key: str, words: frozenset[str]) -> str:
    value = given.get(key)
    if not isinstance(value, str) or value not in words:
        raise _MalformedError(f"{key} is not a known word")
    return value


def _summary(value: object) -> str:
    text = _text(_SUMMARY_CAP)(value, "summary")
    if not text.strip():
        raise _MalformedError("summary is empty")
    return str(text)


def _text(cap: int) -> _Reader:
    def read(value: object, key: str) -> str:
        if not isinstance(value, str):
            raise _MalformedError(f"{key} is not a text")
        return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", value[:cap])

    return read


def _mapping(value: object, key: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _MalformedError(f"{key} is not an object")
    return value


def _suspect(value: object, key: str) -> dict[str, Any]:
    found = _optional(_mapping(value, key), _SUSPECT)
    if not found.keys() & {"pr", "commit"}:
        raise _MalformedError(f"{key} names neither a pull request nor a commit")
    return found


def _pull(value: object, key: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value < 2**31:
        raise _MalformedError(f"{key} is not a positive number")
    return value


def _commit(value: object, key: str) -> str:
    if not isinstance(value, str) or not _COMMIT.fullmatch(value):
        raise _MalformedError(f"{key} is not 7 to 40 hexadecimal digits")
    return value


def _evidence(value: object, key: str) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        raise _MalformedError(f"{key} is not a list")
    entries = [_optional(_mapping(entry, f"{key}[]"), _ENTRY) for entry in value]
    return [entry for entry in entries if entry][:_EVIDENCE_CAP]


def _link(value: object, key: str) -> str:
    """A plain web address. A long one is not cut: it would lead elsewhere."""
    if not isinstance(value, str) or len(value) > _URL_CAP or _NOT_IN_URLS.search(value):
        raise _MalformedError(f"{key} is not a plain address")
    try:
        parts = urlsplit(value)
        plain = parts.scheme in ("http", "https") and bool(parts.hostname) and "@" not in parts.netloc
    except ValueError:
        plain = False
    if not plain:
        raise _MalformedError(f"{key} is not a plain address")
    return value


def _flag(value: object, key: str) -> bool:
    if not isinstance(value, bool):
        raise _MalformedError(f"{key} is not true or false")
    return value


def _analyzer(value: object, key: str) -> dict[str, Any]:
    return _optional(_mapping(value, key), _ANALYZER)


def _moment(value: object, key: str) -> str:
    text = _text(_NAME_CAP)(value, key)
    try:
        datetime.fromisoformat(text)
    except ValueError:
        raise _MalformedError(f"{key} is not an ISO 8601 time") from None
    return str(text)


_SUSPECT: Mapping[str, _Reader] = {"pr": _pull, "commit": _commit, "reason": _text(_REASON_CAP)}
_ENTRY: Mapping[str, _Reader] = {
    "job": _text(_NAME_CAP),
    "test": _text(_NAME_CAP),
    "excerpt": _text(_SUMMARY_CAP),
    "log_url": _link,
}
_ANALYZER: Mapping[str, _Reader] = {key: _text(_NAME_CAP) for key in ("name", "version", "model", "prompt_version")}
_OPTIONAL: Mapping[str, _Reader] = {
    "suspected_upstream": _suspect,
    "evidence": _evidence,
    "reproduced_on_retry": _flag,
    "analyzer": _analyzer,
    "analyzed_at": _moment,
}
