"""The commits of a git repository and the files each of them touched, from one pass of `git log`.

Nothing is checked out and no content is read, so a bare repository or one without blobs will do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from selector.trees import run_git

_MARK = "\x01"


@dataclass(frozen=True, slots=True)
class Commit:
    """`seconds` is the committer's time since the epoch; a merge has no files of its own."""

    id: str
    seconds: int
    files: tuple[str, ...]


def read_commits(repo: Path, head: str, known: Collection[str] = ()) -> Iterator[Commit]:
    """The commits that lead to `head` and to none of `known`, parents before children.

    A rename counts as both of its paths. Paths that git has to quote (a newline, a quote) are left out. Raises
    `TreeError` for an unknown revision.
    """
    flags = ("--topo-order", "--reverse", "--name-only", "--no-renames", f"--format={_MARK}%H %ct")
    exclude = [f"^{commit}" for commit in sorted(known)]
    output = run_git(repo, "log", *flags, "--end-of-options", head, *exclude, "--")
    for entry in output.decode("utf-8", errors="replace").split(_MARK)[1:]:
        lines = entry.splitlines()
        commit, _, seconds = lines[0].partition(" ")
        files = tuple(path for path in lines[1:] if path and not path.startswith('"'))
        yield Commit(commit, int(seconds), files)
