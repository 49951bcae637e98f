"""Bringing an upstream change onto this machine: one bare mirror per clone URL, and work trees of it per shard.

Owns the mirrors' folder and their locks. Everything fetched is untrusted: hooks, filters, prompts and remote helpers
are off, and ids are checked before git sees them.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from relay.contract import Change
from workers.upstream.git import Git, GitError, checked_ref, checked_remote, checked_sha
from workers.upstream.login import login_apart, without_login
from workers.upstream.proxy import through
from workers.upstream.work_trees import WorkTrees

# `uploadpack` is for the *other* end of a local-path remote, which reads this file too.
_CONFIG = """\
[core]
\thooksPath = /dev/null
\tfsmonitor = false
\tautocrlf = false
[protocol]
\tallow = never
[protocol "https"]
\tallow = always
[protocol "http"]
\tallow = always
[protocol "ssh"]
\tallow = always
[protocol "git"]
\tallow = always
[protocol "file"]
\tallow = always
[protocol "ext"]
\tallow = never
[uploadpack]
\tallowAnySHA1InWant = true
[credential]
\thelper =
[gc]
\tauto = 0
[submodule]
\trecurse = false
[advice]
\tdetachedHead = false
"""


@dataclass(frozen=True, slots=True)
class Mirrors:
    """The folder of bare mirrors. Safe for several worker processes: every change of a mirror holds its file lock."""

    folder: Path
    git_timeout_s: float = 1800
    proxy: str = field(default="", repr=False)

    def open(self, clone_url: str) -> Mirror:
        """The mirror of a clone URL, created empty when it is new. Raises `GitError`."""
        url = checked_remote(clone_url)
        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256(without_login(url).encode()).hexdigest()[:16]
        path, config = self.folder / f"{name}.git", self.folder / f"{name}.gitconfig"
        mirror = Mirror(url, Git(path, config, self.git_timeout_s), self.folder / f"{name}.lock", self.proxy)
        with mirror.locked():
            _write_atomically(config, _CONFIG + _trusted_folder(url))
            if not (path / "HEAD").exists():
                path.mkdir(exist_ok=True)
                mirror.git.run("init", "--bare", "--quiet", "--template=", accept=(0,))
        return mirror

    def prune(self) -> None:
        """Forget work trees whose folders are gone (their worker died)."""
        for path in self.folder.glob("*.git"):
            Mirror("", Git(path, path.with_suffix(".gitconfig")), path.with_suffix(".lock")).forget_worktrees()


@dataclass(frozen=True, slots=True)
class Mirror:
    """One bare repository that only ever grows."""

    url: str
    git: Git
    lock: Path
    proxy: str = field(default="", repr=False)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the mirror for this process; a dead holder's lock is gone with it."""
        with self.lock.open("a") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield

    def has(self, sha: str) -> bool:
        return self.git.succeeds("cat-file", "-e", f"{checked_sha(sha)}^{{commit}}")

    def ensure(self, change: Change) -> None:
        """Have both commits of a change, fetching the ref first and single ids where that is not enough."""
        checked_sha(change.base_sha)
        checked_sha(change.head_sha)
        with self.locked():
            if change.fetch_ref and not self.has(change.head_sha):
                self._fetch(checked_ref(change.fetch_ref), must=False)
            for sha in (change.head_sha, change.base_sha):
                if not self.has(sha):
                    self._fetch(sha, must=True)

    def _fetch(self, source: str, *, must: bool) -> None:
        with login_apart(self.url) as (url, helper, login), through(self.proxy) as (proxied, proxy):
            quiet = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head")
            arguments = (*helper, *proxied, "fetch", *quiet, "--end-of-options", url, f"+{source}:refs/relay/{source}")
            self._run_fetch(arguments, (*login, *proxy), source, must=must)

    def look(self) -> None:
        """Ask what is at the clone URL, and fetch nothing. Raises `GitError`."""
        with login_apart(self.url) as (url, helper, login), through(self.proxy) as (proxied, proxy):
            asked = (*helper, *proxied, "ls-remote", "--quiet", "--end-of-options", url, "HEAD")
            self.git.run(*asked, accept=(0,), passed=(*login, *proxy))

    def _run_fetch(self, arguments: Sequence[str], passed: Sequence[int], source: str, *, must: bool) -> None:
        if not must:
            self.git.run(*arguments, accept=(), passed=passed)
            return
        try:
            self.git.run(*arguments, accept=(0,), passed=passed)
        except GitError as error:
            raise GitError(
                f"Commit {source[:12]} cannot be fetched from upstream: {error}",
                "Check that the commit still exists there and that this machine reaches the clone URL, "
                "by RELAY_GIT_PROXY where that takes a proxy.",
            ) from error

    def merge_base(self, base_sha: str, head_sha: str) -> str:
        """The commit the change is compared with. Raises `GitError` when the two have no common history."""
        found = self.git.output("merge-base", checked_sha(base_sha), checked_sha(head_sha), accept=(0, 1)).decode()
        if not found.strip():
            raise GitError(
                f"{head_sha[:12]} and {base_sha[:12]} have no common history.",
                "The pull request may come from a repository that is no fork of upstream.",
            )
        return checked_sha(found.split()[0])

    def add_worktree(self, folder: Path, sha: str) -> None:
        with self.locked():
            self.git.run(
                "worktree", "add", "--quiet", "--detach", "--force", str(folder), checked_sha(sha), accept=(0,)
            )

    def forget_worktrees(self) -> None:
        """Forget work trees whose folders are gone."""
        with self.locked():
            self.git.run("worktree", "prune", accept=())


@dataclass(slots=True)
class Checkout:
    """The trees of one change for one shard. Work trees are made when first asked for and removed by `close`; with
    `kept` they are shared with other shards, and none of these may change them."""

    mirror: Mirror
    change: Change
    folder: Path
    base_sha: str
    kept: WorkTrees | None = None
    _made: dict[str, Path] = field(default_factory=dict)
    _held: ExitStack = field(default_factory=ExitStack)

    @property
    def repository(self) -> Path:
        return self.mirror.git.repository

    def head(self) -> Path:
        """The upstream tree with the change."""
        return self._worktree("head", self.change.head_sha)

    def base(self) -> Path:
        """The upstream tree at the merge base."""
        return self._worktree("base", self.base_sha)

    def _worktree(self, name: str, sha: str) -> Path:
        if name not in self._made:
            if self.kept is not None:
                self._made[name] = self._held.enter_context(self._kept_worktree(self.kept, sha))
            else:
                self.mirror.add_worktree(self.folder / name, sha)
                self._made[name] = self.folder / name
        return self._made[name]

    def _kept_worktree(self, kept: WorkTrees, sha: str) -> AbstractContextManager[Path]:
        def make(tree: Path) -> None:
            self.mirror.forget_worktrees()
            self.mirror.add_worktree(tree, sha)

        return kept.holding(f"{self.repository.stem}-{sha}", make)

    def close(self) -> None:
        # Not `git worktree remove`: that reads every file first, to save changes nobody wants.
        self._held.close()
        if self._made and self.kept is None:
            for folder in self._made.values():
                shutil.rmtree(folder, ignore_errors=True)
            self.mirror.forget_worktrees()
        self._made.clear()


@contextmanager
def checked_out(mirrors: Mirrors, change: Change, folder: Path, kept: WorkTrees | None = None) -> Iterator[Checkout]:
    """Both commits of a change at hand, for the time of a shard. Raises `GitError` with a hint."""
    mirror = mirrors.open(change.clone_url)
    mirror.ensure(change)
    checkout = Checkout(mirror, change, folder, mirror.merge_base(change.base_sha, change.head_sha), kept)
    try:
        yield checkout
    finally:
        checkout.close()


def _trusted_folder(url: str) -> str:
    """git refuses to read a local repository of another user; the one the operator configured is meant to be read."""
    if not url.startswith(("/", "file:///")):
        return ""
    path = url.removeprefix("file://").rstrip("/").replace("\\", "\\\\").replace('"', '\\"')
    return f'[safe]\n\tdirectory = "{path}"\n\tdirectory = "{path}/.git"\n'


def _write_atomically(path: Path, text: str) -> None:
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text, encoding="utf-8")
    part.replace(path)
