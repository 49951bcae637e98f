"""Cuts a payload that GitHub would refuse to pass on, and tells what was cut. Pure.

What backends are told to read is never cut; the rest goes in a fixed order, as little of it as suffices. Source:
crcr-protocol 1.3.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: GitHub's own limit on `client_payload`, in characters.
GITHUB_LIMIT = 65_535
#: A payload below this is sent as it is; the difference is for the envelope's other keys.
VERBATIM_BYTES = 60_000
#: So many pointers into one value at most; beyond that, the value itself is named once.
_POINTERS_EACH = 8

_KEPT_URLS = frozenset({"html_url", "clone_url"})
_REPOSITORY_KEPT = frozenset({"full_name", "html_url", "clone_url", "default_branch", "private", "fork"})
_PERSONS = ("organization", "enterprise", "sender")
_ROUND_THE_PULL = ("requested_reviewers", "assignees", "assignee", "requested_teams", "milestone")
_FILE_LISTS = ("added", "removed", "modified")

_Pointer = tuple[str, ...]
_Step = Callable[[dict[str, Any]], Iterator[_Pointer]]


class PayloadTooLargeError(Exception):
    """Whatever may be cut was cut, and it is still too large for GitHub."""


@dataclass(frozen=True, slots=True)
class Trimmed:
    """A payload that fits. `note` goes into the envelope; None: nothing was cut."""

    payload: Mapping[str, Any]
    note: Mapping[str, Any] | None = None


def size_of(value: object) -> int:
    """Bytes of a value on the wire, without spaces: never less than its characters."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def trim(payload: Mapping[str, Any]) -> Trimmed:
    """The payload as it can be sent.

    Raises:
        PayloadTooLargeError: it cannot.
    """
    original = size_of(payload)
    if original < VERBATIM_BYTES:
        return Trimmed(payload)
    cut: dict[str, Any] = copy.deepcopy(dict(payload))
    removed: list[str] = []
    for step in _STEPS:
        removed += _pointers(step(cut))
        trimmed = Trimmed(cut, {"original_bytes": original, "removed": removed})
        if size_of(cut) + size_of(trimmed.note) < VERBATIM_BYTES:
            return trimmed
    left = size_of(cut)
    raise PayloadTooLargeError(f"the payload has {original} bytes, and {left} after everything was cut that may be")


def _pointers(removed: Iterator[_Pointer]) -> list[str]:
    """JSON pointers (RFC 6901) of what was removed. Many within one value are told as that value."""
    within: dict[_Pointer, list[_Pointer]] = {}
    for pointer in removed:
        within.setdefault(pointer[:-1], []).append(pointer)
    told = [[holder] if len(found) > _POINTERS_EACH and holder else found for holder, found in within.items()]
    return ["".join(f"/{_escaped(name)}" for name in pointer) for found in told for pointer in found]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")


def _cut_addresses(payload: dict[str, Any]) -> Iterator[_Pointer]:
    yield from _addresses_in(payload, ())


def _addresses_in(value: object, at: _Pointer) -> Iterator[_Pointer]:
    if isinstance(value, dict):
        for key in [key for key in value if _is_address(key)]:
            del value[key]
            yield (*at, key)
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in inner:
        yield from _addresses_in(below, (*at, str(name)))


def _is_address(key: str) -> bool:
    return key == "_links" or (key.endswith("_url") and key not in _KEPT_URLS)


def _cut_persons(payload: dict[str, Any]) -> Iterator[_Pointer]:
    for name in _PERSONS:
        yield from _reduce(payload, (name,), frozenset({"login"}))


def _cut_repositories(payload: dict[str, Any]) -> Iterator[_Pointer]:
    sides = [("pull_request", side, "repo") for side in ("head", "base")]
    for at in [("repository",), *sides]:
        yield from _reduce(payload, at, _REPOSITORY_KEPT)


def _cut_pull_body(payload: dict[str, Any]) -> Iterator[_Pointer]:
    yield from _remove(payload, ("pull_request",), ("body",))


def _cut_round_the_pull(payload: dict[str, Any]) -> Iterator[_Pointer]:
    yield from _remove(payload, ("pull_request",), _ROUND_THE_PULL)


def _cut_commits(payload: dict[str, Any]) -> Iterator[_Pointer]:
    commits = payload.get("commits")
    if isinstance(commits, list):
        yield from (("commits", str(number)) for number in range(len(commits) - 1))
        del commits[:-1]


def _cut_file_lists(payload: dict[str, Any]) -> Iterator[_Pointer]:
    """Those of the last commit too, which is the head commit once more."""
    yield from _remove(payload, ("head_commit",), _FILE_LISTS)
    yield from _remove(payload, ("commits", "0"), _FILE_LISTS)


def _cut_label_descriptions(payload: dict[str, Any]) -> Iterator[_Pointer]:
    labels = _at(payload, ("pull_request", "labels"))
    for number in range(len(labels)) if isinstance(labels, list) else ():
        yield from _remove(payload, ("pull_request", "labels", str(number)), ("description",))
    yield from _remove(payload, ("label",), ("description",))


_STEPS: tuple[_Step, ...] = (
    _cut_addresses,
    _cut_persons,
    _cut_repositories,
    _cut_pull_body,
    _cut_round_the_pull,
    _cut_commits,
    _cut_file_lists,
    _cut_label_descriptions,
)


def _at(value: Any, path: _Pointer) -> Any:
    """What a path leads to; None when it leads nowhere."""
    for name in path:
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def _reduce(payload: dict[str, Any], at: _Pointer, kept: frozenset[str]) -> Iterator[_Pointer]:
    holder = _at(payload, at)
    if isinstance(holder, dict):
        yield from _remove(payload, at, tuple(key for key in holder if key not in kept))


def _remove(payload: dict[str, Any], at: _Pointer, keys: tuple[str, ...]) -> Iterator[_Pointer]:
    holder = _at(payload, at)
    for key in keys:
        if isinstance(holder, dict) and key in holder:
            del holder[key]
            yield (*at, key)
