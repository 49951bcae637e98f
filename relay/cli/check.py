"""One line of the report of `relay doctor`."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report. `warn` is for what only some machines need."""

    name: str
    status: Literal["ok", "warn", "fail"]
    detail: str
    next_step: str = ""

    def as_object(self) -> dict[str, str]:
        return asdict(self)
