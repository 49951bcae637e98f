"""Where a repository's commits, files and differences come from: a git repository on this machine, or memory.

Reads only. Revisions and paths arrive from requests, so git gets them behind `--end-of-options` and never as a path of
this machine.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

_SHA = re.compile(r"[0-9a-f]{40}")
_GIT_TIMEOUT_S = 60
#: Fields of a commit for `git log`, separated by NUL; the message comes last because it may hold anything but NUL.
_FORMAT = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%B"
_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Commit:
    """A commit. Times are aware; `parents` may be unknown to the repository."""

    sha: str
    message: str = ""
    author: str = "octocat"
    email: str = "octocat@users.noreply.github.com"
    at: datetime = _EPOCH
    parents: tuple[str, ...] = ()
    tree: str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"  # git's own name for the empty tree


class Source(Protocol):
    """The content of a repository. A revision is a branch, a tag or a SHA."""

    def commit(self, revision: str) -> Commit | None:
        """The commit a revision names."""
        ...

    def read(self, revision: str, path: str) -> bytes | None:
        """A file's bytes."""
        ...

    def diff(self, base: str, head: str) -> str | None:
        """The unified difference from `base` to `head`."""
        ...

    def between(self, base: str, head: str) -> Sequence[Commit]:
        """The commits of `head` that are not of `base`, the oldest first."""
        ...

    def merge_base(self, base: str, head: str) -> Commit | None:
        """The newest commit that both have."""
        ...


@dataclass
class MemorySource:
    """Commits, files and differences as they were told. A file is the same at every revision."""

    files: dict[str, str] = field(default_factory=dict)
    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    diffs: dict[tuple[str, str], str] = field(default_factory=dict)

    def add(self, commit: Commit) -> Commit:
        """Know a commit from now on."""
        self.commits[commit.sha] = commit
        return commit

    def commit(self, revision: str) -> Commit | None:
        """The commit by its SHA, or by a ref that was set."""
        return self.commits.get(self.refs.get(revision, revision))

    def read(self, revision: str, path: str) -> bytes | None:
        """The file, whatever the revision: a branch nobody described has the files too."""
        text = self.files.get(path)
        if text is None or (_SHA.fullmatch(revision) and revision not in self.commits):
            return None
        return text.encode()

    def diff(self, base: str, head: str) -> str | None:
        """The difference that was told, empty for two known commits nobody told one of."""
        ends = self.commit(base), self.commit(head)
        if ends[0] is None or ends[1] is None:
            return None
        return self.diffs.get((ends[0].sha, ends[1].sha), "")

    def between(self, base: str, head: str) -> Sequence[Commit]:
        """First parents from `head` back to `base`, as far as they are known."""
        end, commit = self.commit(base), self.commit(head)
        found: list[Commit] = []
        while commit is not None and commit != end:
            found.append(commit)
            commit = self.commits.get(commit.parents[0]) if commit.parents else None
        return found[::-1]

    def merge_base(self, base: str, head: str) -> Commit | None:
        """The base itself: what is told is linear."""
        return self.commit(base)


class GitSource:
    """A git repository on this machine, bare or not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def commit(self, revision: str) -> Commit | None:
        """The commit git resolves."""
        out = self._git("log", "-1", f"--format={_FORMAT}", "--end-of-options", revision, "--")
        return None if out is None else _parsed(out)

    def read(self, revision: str, path: str) -> bytes | None:
        """The blob at that revision."""
        kind = self._git("cat-file", "-t", "--end-of-options", f"{revision}:{path}")
        if kind is None or kind.strip() != "blob":
            return None
        return self._bytes("cat-file", "blob", "--end-of-options", f"{revision}:{path}")

    def diff(self, base: str, head: str) -> str | None:
        """`git diff` with renames, plain prefixes and no driver of the user's."""
        flags = ("--no-ext-diff", "--no-textconv", "--no-color", "-M", "--src-prefix=a/", "--dst-prefix=b/")
        return self._git("-c", "core.quotePath=off", "diff", *flags, "--end-of-options", base, head, "--")

    def between(self, base: str, head: str) -> Sequence[Commit]:
        """`git log base..head`."""
        out = self._git(
            "log", "-z", "--reverse", f"--format=%x01{_FORMAT}", "--end-of-options", f"{base}..{head}", "--"
        )
        return [_parsed(entry) for entry in (out or "").split("\x01")[1:]]

    def merge_base(self, base: str, head: str) -> Commit | None:
        """`git merge-base`."""
        out = self._git("merge-base", "--end-of-options", base, head)
        return self.commit(out.strip()) if out else None

    def _git(self, *arguments: str) -> str | None:
        out = self._bytes(*arguments)
        return None if out is None else out.decode("utf-8", "replace")

    def _bytes(self, *arguments: str) -> bytes | None:
        """None when git says no. A revision with a NUL or an unknown name is such a no."""
        if any("\0" in argument for argument in arguments):
            return None
        command = ["git", "-C", str(self.folder), "--no-pager", *arguments]
        done = subprocess.run(command, capture_output=True, timeout=_GIT_TIMEOUT_S, check=False)
        return done.stdout if done.returncode == 0 else None


def _parsed(entry: str) -> Commit:
    sha, tree, parents, author, email, at, message = entry.rstrip("\0").split("\0", 6)
    return Commit(sha, message.strip("\n"), author, email, datetime.fromisoformat(at), tuple(parents.split()), tree)


def blob_sha(content: bytes) -> str:
    """Git's name for a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
