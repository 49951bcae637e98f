"""A torch built from an upstream commit by the operator's command, for changes that no installed wheel can stand for.

Owns the cache of built torches: which build answers for which commit, who may build, and what is removed when the cache
grows. A build is never taken for another one: its name is a digest of the command, the environment and all of the tree
that it can depend on.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from workers.builds.build_process import BuildFailedError, BuildFolders, BuildStoppedError, run_build
from workers.environments.choice import parse_version
from workers.environments.environment import Environment, EnvironmentProblemError, read_torch
from workers.runner.sandbox import Sandbox
from workers.upstream.checkout import Mirror
from workers.upstream.git import checked_sha

#: Folders of the tree that no build of torch reads.
_NOT_BUILT = frozenset({b"test", b"docs"})
_WAIT_S = 0.2


@dataclass(frozen=True, slots=True)
class NativeBuilds:
    """The builds of a machine. `timeout_s` is the limit of one build, `limit_bytes` that of all that are kept."""

    folder: Path
    command: tuple[str, ...]
    sandbox: Sandbox
    timeout_s: float
    limit_bytes: int

    def for_shard(
        self,
        mirror: Mirror,
        environment: Environment,
        should_stop: Callable[[], bool],
        say: Callable[[str], None],
    ) -> ShardBuilds:
        """The builds that one shard asks for, to be used in a `with` block."""
        return ShardBuilds(self, mirror, environment, should_stop, say)

    def digest(self, mirror: Mirror, environment: Environment, sha: str) -> str:
        """What a build of this commit is called. Raises `GitError`."""
        entries = mirror.git.output("ls-tree", "-z", "--full-tree", checked_sha(sha)).split(b"\0")
        read = [entry for entry in entries if entry.rpartition(b"\t")[2] not in _NOT_BUILT]
        torch = environment.torch
        identity = (str(environment.python), environment.python_version, torch.version, torch.git_sha)
        parts = (*(word.encode() for word in (*self.command, "", *identity)), b"", *read)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(b"%d:" % len(part) + part)
        return digest.hexdigest()[:32]

    def prune(self) -> None:
        """Remove what dead builders left, and the builds that were not used for longest, until the rest is within the
        limit. What is in use stays."""
        for rest in self.folder.glob(".*-*"):
            with self._only_user(rest.name.rpartition("-")[2]) as alone:
                if alone:
                    shutil.rmtree(rest, ignore_errors=True)
        total = 0
        for build in sorted(self._built(), key=lambda build: build.stat().st_mtime, reverse=True):
            total += _size(build)
            if total > self.limit_bytes:
                self._remove(build)

    def _built(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if path.is_dir() and not path.name.startswith(".")]

    def _remove(self, build: Path) -> None:
        with self._only_user(build.name) as alone:
            if alone:
                doomed = self.folder / f".doomed-{build.name}"
                build.rename(doomed)  # whole for everybody, or not there
                shutil.rmtree(doomed, ignore_errors=True)

    def lock_file(self, digest: str) -> Path:
        return self.folder / f"{digest}.lock"

    @contextmanager
    def _only_user(self, digest: str) -> Iterator[bool]:
        """Whether nobody builds or uses that build, which then lasts until the end of the block."""
        with self.lock_file(digest).open("a") as lock:
            yield _locks(lock, fcntl.LOCK_EX)


@dataclass(slots=True)
class ShardBuilds(AbstractContextManager["ShardBuilds"]):
    """The builds one shard uses: none of them is removed before the end of its `with` block."""

    builds: NativeBuilds
    mirror: Mirror
    environment: Environment
    should_stop: Callable[[], bool]
    say: Callable[[str], None]
    _held: ExitStack = field(default_factory=ExitStack)

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def digest(self, sha: str) -> str:
        """What the build of a commit is called. Raises `GitError`."""
        return self.builds.digest(self.mirror, self.environment, sha)

    def torch(self, sha: str) -> Path:
        """The folder that holds the `torch/` of a commit, built now when the cache has none.

        Raises:
            BuildFailedError: with the end of the output.
            BuildStoppedError: when the shard is to stop.
            GitError: when the commit cannot be checked out.
        """
        self.builds.folder.mkdir(parents=True, exist_ok=True)
        digest = self.digest(sha)
        path = self.builds.folder / digest
        lock = self._held.enter_context(self.builds.lock_file(digest).open("a"))
        while True:
            self._wait(lock, fcntl.LOCK_SH)
            if path.is_dir():
                os.utime(path)
                return path
            self._wait(lock, fcntl.LOCK_EX)
            if not path.is_dir():
                self._make(path, sha)

    def _wait(self, lock: TextIO, kind: int) -> None:
        """Another worker may be building for hours. What was held is let go first: two that wait to be the only one
        would wait for each other."""
        fcntl.flock(lock, fcntl.LOCK_UN)
        while not _locks(lock, kind):
            if self.should_stop():
                raise BuildStoppedError
            time.sleep(_WAIT_S)

    def _make(self, path: Path, sha: str) -> None:
        building = path.with_name(f".building-{path.name}")
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(mode=0o700)
        self.say(f"building torch at {sha[:12]}")
        try:
            self.mirror.add_worktree(building / "source", sha)
            folders = BuildFolders.below(building)
            run_build(
                self.builds.command,
                self.environment.python,
                folders,
                sandbox=self.builds.sandbox,
                timeout_s=self.builds.timeout_s,
                should_stop=self.should_stop,
            )
            self._check(folders.output)
            _take_over(folders.output)
            folders.output.rename(path)
        finally:
            shutil.rmtree(building, ignore_errors=True)
            self.mirror.forget_worktrees()
        self.builds.prune()

    def _check(self, output: Path) -> None:
        """Whether there is a torch that the environment's device library fits. Nothing in it is trusted or run."""
        package = output / "torch"
        files = (package / "__init__.py", package / "version.py")
        if package.is_symlink() or not all(file.is_file() and not file.is_symlink() for file in files):
            raise BuildFailedError(
                "The build ended well, but left no torch/ with __init__.py and version.py in RELAY_BUILD_OUTPUT."
            )
        try:
            version = read_torch(output).version
        except EnvironmentProblemError as problem:
            raise BuildFailedError(str(problem)) from problem
        built, own = parse_version(version), parse_version(self.environment.torch.version)
        if built is None or own is None or built[:2] != own[:2]:
            raise BuildFailedError(
                f"The build is torch {version}, and the device of environment {self.environment.name} is built for "
                f"torch {self.environment.torch.version}."
            )


def _locks(lock: TextIO, kind: int) -> bool:
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _take_over(output: Path) -> None:
    """The files are the sandbox's user's; from now on they are ours, and readable for test processes."""
    for place, folders, files in os.walk(output):
        for name in (".", *folders, *files):
            path = Path(place, name)
            if os.geteuid() == 0:
                os.chown(path, 0, 0, follow_symlinks=False)
            if not path.is_symlink():
                # Without set-user-ID, and nobody else's to write.
                path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)


def _size(build: Path) -> int:
    return sum(Path(place, name).lstat().st_size for place, _, files in os.walk(build) for name in files)
