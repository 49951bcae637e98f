"""The seal of a built library: one line after its last byte that says what it was built for and what it must contain.

A damaged or foreign shared object does not fail politely: loading a truncated one ends in SIGBUS, and one built for
another torch reads the wrong slots of virtual tables. So both are checked on the bytes, before anything is loaded. The
dynamic loader ignores what follows the last section of a file.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

_MARK = b"\nspyre-seal "


class SealError(Exception):
    """The file is not an intact device library; the message says why, starting with a verb."""


@dataclass(frozen=True, slots=True)
class Seal:
    """What a library was built for, by which version of g++, and the device that it registers."""

    torch: str
    compiler: str
    device: str


def add_seal(library: Path, seal: Seal) -> None:
    """Append the seal to a freshly linked library."""
    content = library.read_bytes()
    line = json.dumps({**asdict(seal), "sha256": hashlib.sha256(content).hexdigest()})
    library.write_bytes(content + _MARK + line.encode() + b"\n")


def read_seal(library: Path) -> Seal:
    """Return what the library says of itself, after comparing its content. Raises `SealError`."""
    try:
        content, mark, line = library.read_bytes().rpartition(_MARK)
    except OSError as error:
        raise SealError(f"cannot be read ({error.strerror})") from error
    if not mark:
        raise SealError("is not a complete device library (it ends without a seal)")
    try:
        fields = json.loads(line)
        seal = Seal(str(fields["torch"]), str(fields["compiler"]), str(fields["device"]))
        digest = str(fields["sha256"])
    except (ValueError, KeyError, TypeError) as error:
        raise SealError("is damaged (its seal cannot be parsed)") from error
    if hashlib.sha256(content).hexdigest() != digest:
        raise SealError("is damaged (its content does not match its seal)")
    return seal
