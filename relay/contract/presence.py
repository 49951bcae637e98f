"""A worker says that it is there, also while it has nothing to do, and that it goes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from relay.contract.texts import WHOLE, Flag, Message, Number, ShortText
from relay.contract.work import TestedOn

#: Of one machine; more are not told.
ENVIRONMENTS_CAP = 32
DeviceText = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00]*$")]


class WorkerPresent(Message):
    """Body of `POST /api/v1/worker/presence`: who is there and what it tests with. `process` is made anew by each start
    of a worker, so that the goodbye of an old process does not speak for a new one of the same name. `sandbox` is how
    test processes are confined (`bubblewrap`, or `none` with the reason), `trouble` why it can do no work for now, and
    `leaving` the last word of a process."""

    worker: ShortText = Field(min_length=1)
    device: DeviceText
    process: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    version: ShortText
    concurrency: Annotated[int, Field(ge=1, le=1_000), WHOLE] = 1
    sandbox: ShortText = ""
    manifest_profile: ShortText = ""
    environments: tuple[TestedOn, ...] = Field(default=(), max_length=ENVIRONMENTS_CAP)
    trouble: ShortText = ""
    leaving: Flag = False


class PresenceReply(Message):
    """In how many seconds the relay wants to hear of the worker again; after some of these it counts as silent."""

    again_in_s: Number = Field(gt=0)
