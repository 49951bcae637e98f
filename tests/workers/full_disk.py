"""A disk that takes no more than some bytes of a file, for this process and for a time: without root and without a disk
of its own, by the kernel's limit on the size of files."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager

_LITTLE = 64 * 1024


class FullDisk:
    """`fill` and `clear` may be called from anywhere."""

    def __init__(self) -> None:
        self._before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (_LITTLE, self._before[1]))

    def clear(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, self._before)


@contextmanager
def disk_to_fill() -> Iterator[FullDisk]:
    """One that has room again at the end."""
    disk = FullDisk()
    try:
        yield disk
    finally:
        disk.clear()
