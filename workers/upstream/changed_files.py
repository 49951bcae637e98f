"""Which files a change touches, straight from git's objects: paths, modes and blob ids.

The overlay and the build check stand on this and not on the parsed diff, because a file that a parser overlooked would
be a file silently not tested. Content is read by object id; a symbolic link is an entry with a mode, never followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from workers.upstream.git import Git, checked_sha

_REGULAR = frozenset({"100644", "100755"})
_ABSENT = "000000"
_SUBMODULE = "160000"


@dataclass(frozen=True, slots=True)
class Side:
    """A changed entry on one side of the change."""

    path: str
    mode: str
    blob: str

    @property
    def present(self) -> bool:
        return self.mode != _ABSENT

    @property
    def regular(self) -> bool:
        return self.mode in _REGULAR

    @property
    def submodule(self) -> bool:
        return self.mode == _SUBMODULE


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """One entry that differs. After a rename the two paths differ."""

    base: Side
    head: Side


def changed_entries(git: Git, base: str, head: str) -> tuple[ChangedEntry, ...]:
    """All entries that differ between two commits, renames found. Raises `GitError`.

    Source of the format: git-diff-tree(1), "Raw output format" with `-z`.
    """
    raw = git.output("diff-tree", "-r", "-z", "--raw", "--find-renames", checked_sha(base), checked_sha(head))
    fields = iter(raw.decode("utf-8", "surrogateescape").split("\0"))
    return tuple(_entries(fields))


def _entries(fields: Iterator[str]) -> Iterator[ChangedEntry]:
    for header in fields:
        if not header:
            return
        old_mode, new_mode, old_blob, new_blob, status = header.removeprefix(":").split(" ")
        old_path = next(fields)
        new_path = next(fields) if status[0] in "RC" else old_path
        yield ChangedEntry(Side(old_path, old_mode, old_blob), Side(new_path, new_mode, new_blob))
