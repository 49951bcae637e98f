"""An allowlist that was read: backends, levels, events. Repository names are equal when only letter case differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum, StrEnum


class Level(IntEnum):
    """How far a backend is trusted: L1 is only told, L2 reports, L3 shows checks on request, L4 always does."""

    L1 = 1
    L2 = 2
    L3 = 3
    L4 = 4

    @property
    def blocks(self) -> bool:
        """Whether a failure of such a backend keeps a change from being merged."""
        return self is Level.L4


class Participation(StrEnum):
    """What a backend takes part in. A push counts as `pull_request`, `periodic` as `nightly`."""

    PULL_REQUEST = "pull_request"
    NIGHTLY = "nightly"


EVERYTHING = frozenset(Participation)
#: A shorter time to live of a list is raised to this one, in seconds: it comes from a public API with a limit.
MINIMUM_TTL_S = 900


def repo_key(repo: str) -> str:
    """The identity of a repository's name."""
    return repo.casefold()


@dataclass(frozen=True, slots=True)
class Backend:
    """One entry. `device` is the suffix of the label that asks for an L3 backend's checks; `line` counts from 1."""

    repo: str
    level: Level
    oncalls: tuple[str, ...] = ()
    events: frozenset[Participation] = EVERYTHING
    device: str | None = None
    line: int = 0

    @property
    def key(self) -> str:
        """The identity of its repository."""
        return repo_key(self.repo)

    def takes_part_in(self, event: Participation) -> bool:
        """Whether it wants to hear of such events."""
        return event in self.events


@dataclass(frozen=True, slots=True)
class Allowlist:
    """All backends, in the order L1 to L4, within a level in that of the file."""

    backends: tuple[Backend, ...] = ()
    _by_key: dict[str, Backend] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_key", {backend.key: backend for backend in self.backends})

    def find(self, repo: str) -> Backend | None:
        """The entry of a repository, whatever the letter case."""
        return self._by_key.get(repo_key(repo))

    def at_or_above(self, level: Level) -> Sequence[Backend]:
        """Backends of this level and of those above it."""
        return tuple(backend for backend in self.backends if backend.level >= level)

    def of_device(self, device: str) -> Sequence[Backend]:
        """The L3 backends that the label `ciflow/crcr/<device>` asks for."""
        return tuple(backend for backend in self.backends if backend.device == device)

    def taking_part_in(self, event: Participation) -> Sequence[Backend]:
        """Backends that want to hear of such events."""
        return tuple(backend for backend in self.backends if backend.takes_part_in(event))


class AllowlistUnavailableError(Exception):
    """There is no allowlist, not even an old one. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class LoadedAllowlist:
    """The allowlist in force. `problem` tells why a newer one is not (empty: this is the newest); `read_at` is when
    its source was last seen to say this."""

    allowlist: Allowlist
    read_at: datetime
    problem: str = ""
