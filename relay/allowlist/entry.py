"""One entry of the allowlist: a repository, who is on call for it, and the events it takes part in (crcr-protocol 2.2).

Owns the forms below a level or a device, and that no repository stands twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from relay.allowlist.document import Mapping, Node, Scalar, Sequence, error_at, kind
from relay.allowlist.findings import Finding, did_you_mean, shown
from relay.allowlist.types import EVERYTHING, Backend, Level, Participation, repo_key

#: What GitHub lets a name consist of. The text becomes part of the paths of requests, so nothing else may pass.
_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*/[A-Za-z0-9._-]+")
_REPO_CAP = 200
_METADATA = ("oncalls", "events")
_EVENTS = {event.value: event for event in Participation}


def is_empty(value: Node) -> bool:
    """Whether a level says nothing: null, an empty text, list or mapping."""
    if isinstance(value, Scalar):
        return value.is_null or value.value == ""
    return not (value.items if isinstance(value, Sequence) else value.pairs)


def repo_name(text: str) -> str | None:
    """`owner/name` without surrounding spaces and slashes, None for what cannot be a repository of GitHub."""
    name = text.strip().strip("/").strip()
    fits = _REPO.fullmatch(name) and len(name) <= _REPO_CAP and name.partition("/")[2] not in (".", "..")
    return name if fits else None


@dataclass(slots=True)
class EntryReader:
    """Reads the entries of one file, and keeps what it finds wrong on the way."""

    findings: list[Finding] = field(default_factory=list)
    _lines: dict[str, int] = field(default_factory=dict)

    def backend(self, key: Scalar, value: Node | None, level: Level, device: str | None = None) -> Backend | None:
        """The backend of an entry; None, with a finding, when its name is no repository or stands there already."""
        repo = repo_name(key.value) if isinstance(key.value, str) else None
        if repo is None:
            self.findings.append(error_at(key, f"{shown(key.text)} is no repository; write owner/repo"))
            return None
        if (first := self._lines.get(repo_key(repo))) is not None:
            self.findings.append(error_at(key, f"{repo} stands in line {first} already (letter case does not count)"))
            return None
        self._lines[repo_key(repo)] = key.line
        oncalls, events = self._metadata(value) if isinstance(value, Mapping) else (self._oncalls(value), EVERYTHING)
        return Backend(repo, level, oncalls, events, device, key.line)

    def _metadata(self, value: Mapping) -> tuple[tuple[str, ...], frozenset[Participation]]:
        for key, _ in value.pairs:
            if key.words not in _METADATA:
                guess = did_you_mean(key.words, _METADATA)
                self.findings.append(error_at(key, f"unsupported metadata {shown(key.text)}{guess}"))
        oncalls, events = (value.get(name) for name in _METADATA)
        if isinstance(oncalls, Scalar) and not isinstance(oncalls.value, str | None):
            self.findings.append(error_at(oncalls, f"oncalls is a text or a list of names, not {kind(oncalls)}"))
        return self._oncalls(oncalls), EVERYTHING if events is None else self._events(events)

    def _oncalls(self, value: Node | None) -> tuple[str, ...]:
        if isinstance(value, Mapping):
            self.findings.append(error_at(value, "oncalls is a text or a list of names, not a mapping"))
            return ()
        if isinstance(value, Sequence):
            return _names(name for item in value.items for name in self._oncall(item))
        return () if value is None or value.is_null else _names(value.words.split(","))

    def _oncall(self, item: Node) -> tuple[str, ...]:
        if isinstance(item, Scalar):
            return () if item.is_null else (item.words,)
        self.findings.append(error_at(item, f"an on-call is a name, not {kind(item)}"))
        return ()

    def _events(self, value: Node) -> frozenset[Participation]:
        if not isinstance(value, Sequence) or not value.items:
            found = kind(value) if not isinstance(value, Sequence) else "an empty list"
            self.findings.append(error_at(value, f"events is a list of {' and '.join(_EVENTS)}, not {found}"))
            return frozenset()
        found_events: dict[Participation, int] = {}
        for item in value.items:
            self._event(item, found_events)
        return frozenset(found_events)

    def _event(self, item: Node, seen: dict[Participation, int]) -> None:
        event = _EVENTS.get(item.value) if isinstance(item, Scalar) and isinstance(item.value, str) else None
        if event is None:
            guess = did_you_mean(item.text, _EVENTS) if isinstance(item, Scalar) else ""
            self.findings.append(
                error_at(item, f"unsupported event {kind(item)}{guess}; a push counts as pull_request")
            )
        elif event in seen:
            self.findings.append(error_at(item, f"the event {event} stands in line {seen[event]} already"))
        else:
            seen[event] = item.line


def _names(parts: Iterable[str]) -> tuple[str, ...]:
    """Logins, without the `@` that people put before them and without empty ones."""
    return tuple(name for part in parts if (name := part.strip().removeprefix("@").strip()))
