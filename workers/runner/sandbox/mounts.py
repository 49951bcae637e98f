"""The files a sandboxed program sees, as words for bubblewrap: a new root with little in it, nearly all read-only."""

from __future__ import annotations

import errno
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Links to /usr on most systems, folders on old ones.
_USR_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
#: Where shared libraries are found, which program a generic name is, how many processors there are.
_SHOWN = ("/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system/cpu")
#: Made here; a readable folder must not stand in their place.
_OWN = frozenset(map(Path, ("/", "/dev", "/etc", "/proc", "/sys", "/tmp", "/usr", "/var")))  # noqa: S108 -- inside
# Both are the sandbox's own, empty at its start.
TEMPORARY = Path("/tmp")  # noqa: S108 - inside the sandbox, where it is private
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - as above


class Mounts:
    """Collects the words. Every parent folder is named, since bubblewrap makes those it has to guess for root alone."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._made = {Path("/")}

    def system(self, temporary_bytes: int) -> None:
        """What every program needs: /usr, devices, its own processes, and bounded room for temporary files."""
        self.read_only(Path("/usr"))
        for name in _USR_LINKS:
            self._usr_link(Path("/", name))
        for shown in filter(Path.exists, map(Path, _SHOWN)):
            self.read_only(shown)
        self.words += ["--proc", "/proc", "--dev", "/dev"]
        self._made |= {Path("/proc"), Path("/dev")}
        for folder in (TEMPORARY, SHARED_MEMORY):
            self.words += ["--perms", "1777", "--size", str(temporary_bytes), "--tmpfs", str(folder)]
            self._made.add(folder)
        self._folders(Path("/var"))
        self.words += ["--symlink", str(TEMPORARY), "/var/tmp"]  # noqa: S108 -- inside

    def read_only(self, path: Path) -> None:
        """Show a host path at the same place."""
        self._folders(path.parent)
        self.words += ["--ro-bind", str(path), str(path)]
        self._made.add(path)

    def writable(self, path: Path) -> None:
        """Show a host folder at the same place and let it be changed."""
        self._folders(path.parent)
        self.words += ["--bind", str(path), str(path)]
        self._made.add(path)

    def file(self, path: Path, descriptor: int) -> None:
        """A read-only file with the content of `descriptor`."""
        self._folders(path.parent)
        self.words += ["--perms", "0444", "--ro-bind-data", str(descriptor), str(path)]

    def seal(self) -> None:
        """Close what is left of the new root itself: it is memory that nothing bounds."""
        self.words += ["--remount-ro", "/dev", "--remount-ro", "/"]

    def _usr_link(self, path: Path) -> None:
        if path.is_symlink():
            self.words += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            self.read_only(path)

    def _folders(self, folder: Path) -> None:
        for step in (*reversed(folder.parents), folder):
            if step not in self._made and not any(step.is_relative_to(made) for made in self._bound()):
                self.words += ["--perms", "0755", "--dir", str(step)]
                self._made.add(step)

    def _bound(self) -> Iterator[Path]:
        return (Path(place) for word, place in zip(self.words, self.words[2:], strict=False) if word == "--ro-bind")


def outermost(paths: Iterable[Path]) -> list[Path]:
    """`paths` without those that lie in another one or in /usr, which are seen with it.

    Raises:
        ValueError: for a path that is not absolute, or that would stand in the place of the sandbox's own folders.
    """
    kept: list[Path] = []
    for path in sorted(set(paths)):
        if not path.is_absolute() or ".." in path.parts or path in _OWN - {Path("/usr")}:
            raise ValueError(f"{path} cannot be shown in a sandbox: name an absolute folder of its own")
        if not any(path.is_relative_to(outer) for outer in (Path("/usr"), *kept)):
            kept.append(path)
    return kept


def require_open(paths: Iterable[Path], *, to_all: bool, write: bool = False) -> None:
    """Every path exists and, `to_all` set, can be read (and with `write` changed) by a user who is nobody here.

    Raises:
        OSError: with the path, and what to do.
    """
    letters, folder_bits = ("rwX", 0o7) if write else ("rX", 0o5)
    for path in paths:
        mode = path.stat().st_mode
        wanted = folder_bits if stat.S_ISDIR(mode) else folder_bits & ~0o1
        if to_all and mode & wanted != wanted:
            sentence = f"the sandbox's user may not use it; open it to all users (chmod o+{letters})"
            raise PermissionError(errno.EACCES, sentence, str(path))
