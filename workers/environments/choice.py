"""Which environment answers for a change: the one whose torch is nearest to the merge base, and how far that is.

Pure but for asking the mirror about history. The same environments and the same base give the same answer on every
shard of a run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from workers.environments.environment import DEFAULT, Environment
from workers.upstream.checkout import Mirror
from workers.upstream.git import checked_sha

Version = tuple[int, int, int]
_FAR: Version = (1 << 30, 0, 0)


@dataclass(frozen=True, slots=True)
class Nearness:
    """How far an environment's torch is from a base commit. `commits` is None where the mirror does not hold the
    commit the torch was built from; versions are None where they cannot be read."""

    environment: Environment
    commits: int | None
    version: Version | None
    tree_version: Version | None

    @property
    def version_gap(self) -> Version:
        """Major, minor and micro apart; far where one is unknown."""
        if self.version is None or self.tree_version is None:
            return _FAR
        major, minor, micro = (abs(a - b) for a, b in zip(self.version, self.tree_version, strict=True))
        return major, minor, micro

    @property
    def is_skewed(self) -> bool:
        """Whether tree and torch are of different minor versions, as far as that is known."""
        return self.version_gap != _FAR and self.version_gap[:2] != (0, 0)

    @property
    def sentence(self) -> str:
        """What a reader of the report should know about the torch that answered, and how well it fits the tree."""
        environment = self.environment
        said = f"Torch {environment.torch.shown} of environment {environment.name} answers for this run"
        if self.commits is not None:
            said += f", {self.commits} commits from the base commit"
        if self.is_skewed:
            tree = ".".join(map(str, self.tree_version or ()))
            said += (
                f". The tree is of version {tree}: tests may ask for what this torch lacks, and fail or not be "
                "collected on both sides for that reason alone"
            )
        return f"{said}."


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen environment, and in `why` how it came to that (empty when there was no choice)."""

    nearness: Nearness
    why: str = ""

    @property
    def environment(self) -> Environment:
        return self.nearness.environment

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(note for note in (self.nearness.sentence, self.why) if note)


def choose(environments: Sequence[Environment], mirror: Mirror, base_sha: str) -> Choice:
    """The nearest of at least one environment. Commits decide when they are known for all of them, else versions,
    and commits where versions do not; then the worker's own environment comes first, and the others by name.

    Raises `GitError`.
    """
    tree_version = parse_version(_version_text(mirror, base_sha))
    near = [_nearness(environment, mirror, base_sha, tree_version) for environment in environments]
    by_commits = all(each.commits is not None for each in near)

    def distance(each: Nearness) -> tuple[object, ...]:
        commits = (each.commits is None, each.commits or 0)
        measured = (commits,) if by_commits else (each.version_gap, commits)
        return *measured, each.environment.name != DEFAULT, each.environment.name

    first = min(near, key=distance)
    return Choice(first, _why(first, near, by_commits=by_commits))


def _why(first: Nearness, near: Sequence[Nearness], *, by_commits: bool) -> str:
    others = [each for each in near if each is not first]
    if not others:
        return ""
    if by_commits:
        rest = ", ".join(f"{each.environment.name} {each.commits}" for each in others)
        return f"Environment {first.environment.name} is nearest to the base commit (others, in commits: {rest})."
    rest = ", ".join(f"{each.environment.name} {each.environment.torch.version}" for each in others)
    return f"The torch of environment {first.environment.name} is nearest to the tree's version (others: {rest})."


def _nearness(environment: Environment, mirror: Mirror, base_sha: str, tree_version: Version | None) -> Nearness:
    built_from = environment.torch.git_sha
    commits = None
    if built_from and mirror.has(built_from):
        # Both ways: what either has and the other has not.
        span = f"{checked_sha(built_from)}...{checked_sha(base_sha)}"
        commits = int(mirror.git.text("rev-list", "--count", span))
    return Nearness(environment, commits, parse_version(environment.torch.version), tree_version)


def has_release(environment: Environment, release: str) -> bool:
    """Whether the environment's torch is of a release; `2.14` means every patch release of it."""
    wanted = tuple(int(part) for part in release.split(".") if part.isdecimal())
    version = parse_version(environment.torch.version)
    return bool(wanted) and version is not None and version[: len(wanted)] == wanted


def parse_version(text: str) -> Version | None:
    """The three numbers of `2.6.0a0+git1234`, or None."""
    found = re.match(r"\s*(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", text)
    return (int(found[1]), int(found[2]), int(found[3] or 0)) if found else None


def _version_text(mirror: Mirror, sha: str) -> str:
    """The tree's `version.txt`, empty where it has none. What a link there points to is not followed."""
    done = mirror.git.run("cat-file", "blob", f"{checked_sha(sha)}:version.txt", accept=())
    return done.stdout[:100].decode("utf-8", "replace") if done.returncode == 0 else ""
