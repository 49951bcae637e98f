"""What the selector may know of earlier runs, asked of the relay: how long tests took on this device.

Owns what happens when the relay does not answer: the selection goes on without seconds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

import structlog

from relay.contract import PAST_FILES_CAP, Past, PastAsked
from workers.relay_client import RelayError

log = structlog.get_logger(__name__)

_FILE_CAP = 1_000


class PastRecord(Protocol):
    """What asking needs of the relay client."""

    def past(self, asked: PastAsked) -> Past: ...


@dataclass(frozen=True, slots=True)
class RecordedSeconds:
    """`selector.known.Durations` from the relay's record of one device."""

    record: PastRecord
    device: str

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        wanted = [file for file in files if len(file) <= _FILE_CAP][:PAST_FILES_CAP]
        if not wanted:
            return {}
        try:
            answer = self.record.past(PastAsked(device=self.device, files=tuple(wanted)))
        except RelayError as error:
            log.warning("durations are not known", error=str(error))
            return {}
        told: dict[str, dict[str, float]] = {}
        for test in answer.durations:
            told.setdefault(test.file, {})[test.test] = test.seconds
        return told
