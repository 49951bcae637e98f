"""The allowlist's grammar: from its text to backends, or to everything that is wrong with it (crcr-protocol 2.2, 2.3).

Owns every accepted form. One error keeps the whole text from being used; what only looks wrong is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from relay.allowlist.document import (
    Mapping,
    Node,
    Scalar,
    Sequence,
    UnreadableError,
    error_at,
    kind,
    read_tree,
    warning_at,
)
from relay.allowlist.entry import EntryReader, is_empty
from relay.allowlist.findings import AllowlistError, Finding, Severity, did_you_mean, errors_of, shown
from relay.allowlist.types import Allowlist, Backend, Level

_LEVELS = {level.name: level for level in Level}


@dataclass(frozen=True, slots=True)
class Reading:
    """What came of a text: no allowlist when there is an error among the findings."""

    allowlist: Allowlist | None
    findings: tuple[Finding, ...]


def parse_allowlist(text: str) -> Allowlist:
    """The allowlist a text describes. An empty text describes an empty one.

    Raises:
        AllowlistError: something is wrong with it; nothing of it may be used.
    """
    reading = read_allowlist(text)
    if reading.allowlist is None:
        raise AllowlistError(reading.findings)
    return reading.allowlist


def read_allowlist(text: str) -> Reading:
    """The same with all findings, warnings included, in the order of the file."""
    try:
        root = read_tree(text)
    except UnreadableError as error:
        return Reading(None, (error.finding,))
    reader = _Reader()
    reader.root(root)
    findings = tuple(sorted(reader.entries.findings))
    if errors_of(findings):
        return Reading(None, findings)
    # Stable: within a level the order is that of the file.
    return Reading(Allowlist(tuple(sorted(reader.backends, key=lambda backend: backend.level))), findings)


@dataclass(slots=True)
class _Reader:
    backends: list[Backend] = field(default_factory=list)
    entries: EntryReader = field(default_factory=EntryReader)

    def root(self, root: Node | None) -> None:
        if root is None or (isinstance(root, Scalar) and root.is_null):
            self._add(Finding(1, 1, Severity.WARNING, "the file is empty: no backend takes part"))
            return
        if not isinstance(root, Mapping):
            self._add(
                error_at(root, f"the file must be a mapping with the keys {', '.join(_LEVELS)}, not {kind(root)}")
            )
            return
        for key, value in root.pairs:
            level = _LEVELS.get(key.words)
            if level is None:
                guess = did_you_mean(key.words, _LEVELS)
                self._add(warning_at(key, f"unknown key {shown(key.text)}{guess}; what is below it is ignored"))
            elif not is_empty(value):
                self._level(level, value)

    def _level(self, level: Level, value: Node) -> None:
        if level is Level.L3:
            self._devices(value)
        elif isinstance(value, Sequence):
            self._keep(self._listed(item, level) for item in value.items)
        else:
            self._add(error_at(value, f"{level.name} must be a list of repositories, not {kind(value)}"))

    def _devices(self, value: Node) -> None:
        if not isinstance(value, Mapping):
            self._add(error_at(value, f"L3 must be a mapping from device to repositories, not {kind(value)}"))
            return
        for name, repositories in value.pairs:
            self._device(name, repositories)

    def _device(self, name: Scalar, repositories: Node) -> None:
        device = "" if name.is_null else name.words.strip()
        if not device:
            self._add(error_at(name, "the name of a device of L3 must not be blank"))
        elif not isinstance(repositories, Mapping):
            found = kind(repositories)
            self._add(error_at(repositories, f"device {shown(device)} must be a mapping of repositories, not {found}"))
        else:
            if device != name.text.strip():
                self._add(warning_at(name, f"YAML reads this device as {shown(device)}; put it in quotes"))
            self._keep(self.entries.backend(key, value, Level.L3, device) for key, value in repositories.pairs)

    def _listed(self, item: Node, level: Level) -> Backend | None:
        if isinstance(item, Mapping) and len(item.pairs) == 1:
            ((key, value),) = item.pairs
            return self.entries.backend(key, value, level)
        if isinstance(item, Scalar) and isinstance(item.value, str):
            return self.entries.backend(item, None, level)
        found = f"a mapping of {len(item.pairs)} keys" if isinstance(item, Mapping) else kind(item)
        self._add(error_at(item, f"an entry of {level.name} is `owner/repo` or one `owner/repo: ...`, not {found}"))
        return None

    def _keep(self, found: Iterable[Backend | None]) -> None:
        self.backends += [backend for backend in found if backend is not None]

    def _add(self, finding: Finding) -> None:
        self.entries.findings.append(finding)
