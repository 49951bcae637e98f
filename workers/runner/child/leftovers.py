"""Takes away what tests leave in folders that belong to one launch: the next test file must not find, load or lack it.

Works when nothing of the tests runs any more, so nobody moves files about meanwhile.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path


class Leftovers:
    """Knows what was in `folders` before any test. Only what belongs to this process's user is left over."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._before = {folder: set(_names(folder)) for folder in folders}

    def remove(self) -> bool:
        """Whether all that is new is gone."""
        for path in self._new():
            _remove(path)
        return not any(self._new())

    def _new(self) -> Iterator[Path]:
        for folder, before in self._before.items():
            for path in (folder / name for name in _names(folder) if name not in before):
                # In a folder of all users somebody else may have made something, or just taken it away.
                with suppress(OSError):
                    if path.lstat().st_uid == os.getuid():
                        yield path


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
        return
    # A folder may have been closed to its own user, and be deeper than there is stack to go down.
    with suppress(OSError, RecursionError):
        _open(path)
        shutil.rmtree(path)


def _open(path: Path) -> None:
    """Each folder before it is looked into."""
    path.chmod(0o700)
    for folder, folders, _ in os.walk(path):
        for inner in (Path(folder, name) for name in folders):
            if not inner.is_symlink():
                inner.chmod(0o700)
