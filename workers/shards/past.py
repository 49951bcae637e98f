"""What the selector may know of earlier runs, asked of the relay: how tests ended, and how long they took.

Owns when the relay is asked, and what happens when it does not answer: the selection goes on without. Outcomes are one
question about the changed paths; seconds are another, because which test files matter is known only later.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from relay.contract import PAST_FILES_CAP, PAST_PATHS_CAP, Change, Past, PastAsked
from workers.relay_client import RelayError

log = structlog.get_logger(__name__)

_PATH_CAP = 1_000


class PastRecord(Protocol):
    """What asking needs of the relay client."""

    def past(self, asked: PastAsked) -> Past: ...


@dataclass(frozen=True, slots=True)
class RecordedSeconds:
    """`selector.known.Durations` from the relay's record of one device."""

    record: PastRecord
    device: str

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        wanted = _askable(files, PAST_FILES_CAP)
        if not wanted:
            return {}
        told: dict[str, dict[str, float]] = {}
        for test in _answer(self.record, PastAsked(device=self.device, files=wanted)).durations:
            told.setdefault(test.file, {})[test.test] = test.seconds
        return told


@dataclass(slots=True)
class RecordedOutcomes:
    """`selector.known.Outcomes` of one change from the relay's record of one device. The relay is asked once for the
    same paths, also when it has no answer."""

    record: PastRecord
    device: str
    change: Change
    _told: Past | None = field(default=None, init=False)
    _paths: tuple[str, ...] = field(default=(), init=False)

    def failed_last(self) -> Mapping[str, str]:
        return {failure.test: failure.evidence for failure in self._past(self._paths).failed_last}

    def failed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        wanted = _askable(paths, PAST_PATHS_CAP)
        told: dict[str, dict[str, float]] = {}
        for broken in self._past(wanted).failed_with:
            told.setdefault(broken.path, {})[broken.test] = broken.strength
        return told

    def missed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        wanted = _askable(paths, PAST_PATHS_CAP)
        told: dict[str, dict[str, str]] = {}
        for missed in self._past(wanted).missed_with:
            told.setdefault(missed.path, {})[missed.test] = missed.evidence
        return told

    def _past(self, paths: tuple[str, ...]) -> Past:
        if self._told is None or paths != self._paths:
            change = self.change
            asked = PastAsked(
                device=self.device,
                paths=paths,
                repo=change.repo,
                pr_number=change.pr_number,
                head_sha=change.head_sha,
            )
            self._told, self._paths = _answer(self.record, asked), paths
        return self._told


def _answer(record: PastRecord, asked: PastAsked) -> Past:
    try:
        return record.past(asked)
    except RelayError as error:
        log.warning("the past of the tests is not known", error=str(error))
        return Past()


def _askable(paths: Collection[str], most: int) -> tuple[str, ...]:
    """What the contract takes, in one order. Names that are no UTF-8 cannot be sent."""
    return tuple([path for path in sorted(set(paths)) if len(path) <= _PATH_CAP and _is_text(path)][:most])


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True
