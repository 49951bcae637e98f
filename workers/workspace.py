"""The folders of a worker machine: mirrors, the device cache, and one folder per running shard.

A shard's folder is held by a file lock for as long as its process lives, so what a killed process left behind is known
for certain and removed by the next one. Nothing outside the work directory is ever touched.
"""

from __future__ import annotations

import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from workers.upstream.checkout import Mirrors
from workers.upstream.work_trees import WorkTrees

_LOCK = ".lock"
#: With less than this nothing that a shard begins with can be written: a commit, an overlay, a scratch folder.
_ROOM_BYTES = 1 << 20


class NoRoomError(Exception):
    """Nothing can be written on this machine: whatever came of a shard says nothing about the change."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The work directory. `git_timeout_s` is the limit of one git step, `git_proxy` what git fetches through."""

    folder: Path
    git_timeout_s: float = 1800
    git_proxy: str = field(default="", repr=False)

    def check_room(self) -> None:
        """Write as much as the smallest shard needs, and take it away again.

        Raises:
            NoRoomError: it cannot be written: the disk is full, a quota is, or it is read-only by now.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(bytes(_ROOM_BYTES))
        except OSError as error:
            raise NoRoomError(f"The worker's work directory takes nothing more: {error.strerror}.") from error

    @property
    def mirrors(self) -> Mirrors:
        return Mirrors(self.folder / "mirrors", self.git_timeout_s, self.git_proxy)

    @property
    def trees(self) -> WorkTrees:
        return WorkTrees(self.folder / "trees")

    @property
    def catalog(self) -> Path:
        """The file of what was read of upstream's tests, shared by the worker processes of this machine."""
        return self.folder / "catalog"

    @property
    def history(self) -> Path:
        """The file of what was read of upstream's commits, shared in the same way."""
        return self.folder / "history"

    @property
    def shards(self) -> Path:
        return self.folder / "shards"

    @contextmanager
    def shard_folder(self, shard_id: int) -> Iterator[Path]:
        """A fresh folder for one shard, removed at the end."""
        with self._locked():
            folder = Path(tempfile.mkdtemp(prefix=f"{shard_id}-", dir=self.shards))
            held = (folder / _LOCK).open("w")
            fcntl.flock(held, fcntl.LOCK_EX)
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            held.close()

    def remove_leftovers(self) -> tuple[str, ...]:
        """Remove the folders of dead processes; returns their names. Folders of living ones are left alone."""
        with self._locked():
            removed = tuple(folder.name for folder in sorted(self.shards.iterdir()) if _is_dead(folder))
            for name in removed:
                shutil.rmtree(self.shards / name, ignore_errors=True)
        self.mirrors.prune()
        return removed

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Held while a folder is made or judged: one without a held lock is dead, not just being born."""
        self.shards.mkdir(parents=True, exist_ok=True)
        with (self.folder / "shards.lock").open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def _is_dead(folder: Path) -> bool:
    try:
        with (folder / _LOCK).open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # the lock file is gone: a removal was cut short
    return True
