"""One line of the report of `relay doctor`, and how lines are come by: side by side, each within its time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from relay.cli import doctor_text as text

#: Seconds that a look may take, unless it says otherwise.
USUAL_S = 20.0


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report. `warn` is for what only some machines need, `skip` where there is nothing to look at."""

    name: str
    status: Literal["ok", "warn", "fail", "skip"]
    detail: str
    next_step: str = ""

    def as_object(self) -> dict[str, str]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Look:
    """A check that is to be made: `work` gives its line, within `seconds`."""

    name: str
    work: Callable[[], Check]
    seconds: float = USUAL_S


def made(looks: Sequence[Look]) -> list[Check]:
    """The lines in the order of the looks. One that hangs, or fails itself, is a finding."""
    found: dict[str, Check] = {}

    def make(look: Look) -> None:
        try:
            found[look.name] = look.work()
        except Exception as error:  # noqa: BLE001  # whatever a look ran into, the others are shown
            found[look.name] = Check(look.name, "fail", text.look_failed(type(error).__name__), text.report_it())

    threads = [threading.Thread(target=make, args=(look,), name=look.name, daemon=True) for look in looks]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for look, thread in zip(looks, threads, strict=True):
        thread.join(max(0.0, began + look.seconds - time.monotonic()))
    hung = {look.name: Check(look.name, "fail", text.no_end(look.seconds), text.no_end_hint()) for look in looks}
    return [found.get(look.name, hung[look.name]) for look in looks]
