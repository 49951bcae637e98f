"""What the App has to be allowed, and what it has to be told of, for all that this relay asks of GitHub.

`deploy/github/app-manifest.json` asks for the same. Source:
https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_LEVELS = ("read", "write", "admin")
_PERMISSIONS = {"actions": "write", "checks": "write", "contents": "write", "metadata": "read", "pull_requests": "read"}
#: What `relay.intake` reads.
_EVENTS = frozenset({"check_run", "check_suite", "pull_request", "push"})


@dataclass(frozen=True, slots=True)
class Rights:
    """Permissions with their levels, and events."""

    permissions: Mapping[str, str] = field(default_factory=dict)
    events: frozenset[str] = frozenset()

    def lacking(self, needed: Rights) -> Rights:
        """What of `needed` is not here."""
        permissions = {
            name: level
            for name, level in needed.permissions.items()
            if _level(self.permissions.get(name, "")) < _level(level)
        }
        return Rights(permissions, needed.events - self.events)

    def __bool__(self) -> bool:
        return bool(self.permissions or self.events)


def needed_rights(*, comments: bool) -> Rights:
    """What this relay needs; with `comments`, also to read commands and to answer."""
    if comments:
        return Rights({**_PERMISSIONS, "issues": "write"}, _EVENTS | {"issue_comment"})
    return Rights(_PERMISSIONS, _EVENTS)


def _level(name: str) -> int:
    """From -1 for none."""
    return _LEVELS.index(name) if name in _LEVELS else -1
