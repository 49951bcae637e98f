"""What there is on the machine after an attack: processes and files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

#: What attacks call all that they leave.
NAME = "hostile_left"


def left_behind() -> list[int]:
    """Processes of this machine that an attack made and that are still there."""
    return [pid for pid, words in _all_processes() if NAME in words]


def files_of(folder: Path) -> dict[str, tuple[int, int, int]]:
    """Every file below a folder: its kind and mode, its owner, its size."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_uid, status.st_size)
    return found


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def family(pid: int) -> list[int]:
    """A process and its children's children."""
    return [pid, *(found for child in children(pid) for found in family(child))]


def _all_processes() -> Iterator[tuple[int, str]]:
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
            words = (folder / "comm").read_text() + (folder / "cmdline").read_bytes().decode(errors="replace")
            if state != "Z":
                yield int(folder.name), words
