"""What the worker orders of a child: one JSON object in a file without a name."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class Order:
    """Collect `path`, or run `ids` of it in their order, in `directory`. With a `program` (the full name of a module
    with a function `carry_out`) that is done by it in pytest's place, and `task` is a text of its own; where `ids` is
    None it answers.

    `file` is the path in ids (relative to `checkout`), `ids` None to collect. `device` is the name that ids carry
    (`spyre` gives classes the suffix SPYRE). `key` (hexadecimal) seals the events. `detail_chars` caps every text that
    goes back, `operators` and `operator_chars` the report of a test's operators.
    """

    checkout: str
    file: str
    path: str
    directory: str
    device: str
    ids: list[str] | None
    key: str
    address_space_bytes: int
    file_bytes: int
    processes: int
    detail_chars: int
    operators: int
    operator_chars: int
    program: str = ""
    task: str = ""

    def dump(self) -> int:
        """A new descriptor to read the order from, to be closed by the caller. Memory, not a pipe: an order is larger
        than a pipe, and its reader may die before it has read it. Raises OSError."""
        descriptor = os.memfd_create("order")
        with os.fdopen(os.dup(descriptor), "wb") as target:
            target.write(json.dumps(asdict(self)).encode())
        return descriptor

    @classmethod
    def load(cls, descriptor: int) -> Order:
        """Read the order and close its descriptor."""
        with os.fdopen(descriptor, "rb") as source:
            source.seek(0)
            return cls(**json.load(source))
