"""Work trees of upstream commits, kept between shards: writing one takes seconds, removing it as long, and all shards
of a run need the same two.

Owns their folder, who may make or remove one, and how many there are. Kept trees are for users that cannot change them
(test code in a sandbox): what one shard left in them would be in the next one's result.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

#: A tree of PyTorch has some 200 MB.
MOST = 8


@dataclass(frozen=True, slots=True)
class WorkTrees:
    """The kept trees of a machine, at most `most` besides those in use. Safe for several processes at once."""

    folder: Path
    most: int = MOST

    @contextmanager
    def holding(self, key: str, make: Callable[[Path], None]) -> Iterator[Path]:
        """The tree called `key`, which stays as it is until the end of the block. `make` writes it when it is not there
        yet, to a path that does not exist; what it raises is passed on."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._lock(key) as lock:
            while True:
                fcntl.flock(lock, fcntl.LOCK_SH)
                if self._done(key).exists():
                    break
                # Let go first: two that wait to be the only one would wait for each other.
                fcntl.flock(lock, fcntl.LOCK_UN)
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not self._done(key).exists():
                    self._make(key, make)
                fcntl.flock(lock, fcntl.LOCK_UN)
            os.utime(self._done(key))
            yield self._tree(key)

    def _make(self, key: str, make: Callable[[Path], None]) -> None:
        self._make_room()
        shutil.rmtree(self._tree(key), ignore_errors=True)  # half of one, of a process that died
        make(self._tree(key))
        self._done(key).touch()

    def _make_room(self) -> None:
        """Remove those not used for longest, but none in use."""
        kept = sorted(self.folder.glob("*.done"), key=lambda done: done.stat().st_mtime, reverse=True)
        for done in kept[max(0, self.most - 1) :]:
            with self._lock(done.stem) as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    continue
                done.unlink(missing_ok=True)
                shutil.rmtree(self._tree(done.stem), ignore_errors=True)

    def _lock(self, key: str) -> TextIO:
        return (self.folder / f"{key}.lock").open("a")

    def _done(self, key: str) -> Path:
        """The mark of a whole tree. Its time says when the tree was used."""
        return self.folder / f"{key}.done"

    def _tree(self, key: str) -> Path:
        return self.folder / key
