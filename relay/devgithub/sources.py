"""Where a repository's commits, files and differences come from: a git repository on this machine, or memory.

Reads only. Revisions and paths arrive from requests: to git they are never an option, nor a path of this machine.
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
#: Of a commit, for `git log -z`.
_FORMAT, _FIELDS = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%B", 7
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
    """A git repository on this machine, bare or not. Every revision is resolved to a SHA first, so that nothing else
    git takes there (an option, a path, a range) has a meaning."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def commit(self, revision: str) -> Commit | None:
        """The commit git resolves."""
        sha = self._sha(revision)
        found = self._commits("-1", sha) if sha else []
        return found[0] if found else None

    def read(self, revision: str, path: str) -> bytes | None:
        """The blob at that revision."""
        sha = self._sha(revision)
        if not sha or self._text("cat-file", "-t", f"{sha}:{path}").strip() != "blob":
            return None
        return self._bytes("cat-file", "blob", f"{sha}:{path}")

    def diff(self, base: str, head: str) -> str | None:
        """`git diff` with renames, plain prefixes and no driver of the user's."""
        ends = self._sha(base), self._sha(head)
        if not all(ends):
            return None
        flags = ("--no-ext-diff", "--no-textconv", "--no-color", "-M", "--src-prefix=a/", "--dst-prefix=b/")
        return self._text("-c", "core.quotePath=off", "diff", *flags, *ends, "--")

    def between(self, base: str, head: str) -> Sequence[Commit]:
        """`git log base..head`."""
        ends = self._sha(base), self._sha(head)
        return self._commits("--reverse", f"{ends[0]}..{ends[1]}") if all(ends) else []

    def merge_base(self, base: str, head: str) -> Commit | None:
        """`git merge-base`."""
        ends = self._sha(base), self._sha(head)
        return self.commit(self._text("merge-base", *ends).strip()) if all(ends) else None

    def _sha(self, revision: str) -> str:
        """The commit a revision names, "" for none."""
        return self._text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}").strip()

    def _commits(self, *arguments: str) -> list[Commit]:
        # NUL ends every field: it is the one character that no message can have.
        fields = self._text("log", "-z", f"--format={_FORMAT}", *arguments, "--").split("\0")
        return [_parsed(fields[at : at + _FIELDS]) for at in range(0, len(fields) - _FIELDS, _FIELDS)]

    def _text(self, *arguments: str) -> str:
        return (self._bytes(*arguments) or b"").decode("utf-8", "replace")

    def _bytes(self, *arguments: str) -> bytes | None:
        """None when git says no."""
        if any("\0" in argument for argument in arguments):
            return None  # no such argument can be passed to a program
        command = ["git", "-C", str(self.folder), "--no-pager", *arguments]
        done = subprocess.run(command, capture_output=True, timeout=_GIT_TIMEOUT_S, check=False)
        return done.stdout if done.returncode == 0 else None


def _parsed(fields: Sequence[str]) -> Commit:
    sha, tree, parents, author, email, at, message = fields
    return Commit(sha, message.strip("\n"), author, email, datetime.fromisoformat(at), tuple(parents.split()), tree)


def blob_sha(content: bytes) -> str:
    """Git's name for a file's content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
