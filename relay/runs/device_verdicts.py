"""What a change has come to on each device: the short answer of several, where `relay.runs.changes` has one whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from relay.change_views import ChangeGroup
from relay.runs.changes import Change, answer_of, count_groups
from relay.runs.queries import summaries
from relay.runs.states import FINAL_RUN_STATES
from relay.views import RunSummary


@dataclass(frozen=True, slots=True)
class DeviceVerdict:
    """The newest commit's answer on one device. `open_run` is what still runs of it, None when all is over."""

    run: RunSummary
    counts: Mapping[ChangeGroup, int]
    open_run: RunSummary | None

    @property
    def device(self) -> str:
        return self.run.device


def on_devices(devices: Sequence[str], find: Callable[[str], Change | None]) -> dict[str, Change]:
    """The change as each device has it, of those that have a run of it, in their order."""
    found = {device: find(device) for device in devices}
    return {device: change for device, change in found.items() if change is not None}


def device_verdicts(session: Session, changes: Mapping[str, Change], public_url: str) -> tuple[DeviceVerdict, ...]:
    """One for each device, in its order."""
    return tuple(_verdict(session, change, public_url) for change in changes.values())


def _verdict(session: Session, change: Change, public_url: str) -> DeviceVerdict:
    answer = answer_of(change.heads[0])
    run, *repeats = summaries(session, (answer.run, *answer.repeats), public_url)
    unfinished = (one for one in (run, *repeats) if one.state not in FINAL_RUN_STATES)
    return DeviceVerdict(run, count_groups(session, answer), next(unfinished, None))
