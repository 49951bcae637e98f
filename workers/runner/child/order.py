"""What a parent orders of a child: one JSON object on the child's standard input."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TextIO


@dataclass(frozen=True, slots=True)
class Order:
    """Collect `path`, or run `ids` of it in their order.

    `file` is the path in ids (relative to `checkout`), `ids` None to collect. `device` is the name that ids carry
    (`spyre` gives classes the suffix SPYRE). `parent` is the process that must be alive, `events` the inherited
    descriptor of the event pipe. `detail_chars` caps every text that goes back.
    """

    checkout: str
    file: str
    path: str
    device: str
    ids: list[str] | None
    parent: int
    events: int
    address_space_bytes: int
    file_bytes: int
    detail_chars: int

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode()

    @classmethod
    def load(cls, source: TextIO) -> Order:
        return cls(**json.load(source))
