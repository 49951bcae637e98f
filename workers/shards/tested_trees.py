"""The two sides of a comparison as the runner takes them: torch with the change and torch without it.

Owns when work trees, overlays and builds are made: base's only when a failure on head asks for them. Where the change
is of Python only, a side is an overlay over the wheel; else it is a torch built from the side's commit.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from selector.change import ChangeSet, analyse
from selector.change.relevance import on_out_of_tree_device
from selector.trees import GitTree, git_diff
from workers.builds.native_build import ShardBuilds
from workers.runner.types import RunnerTree
from workers.upstream.changed_files import ChangedEntry, changed_entries
from workers.upstream.checkout import Checkout
from workers.upstream.overlay import Overlay, OverlayPlanner, Replacement, build_overlay, needs_build


@dataclass
class TestedTrees(AbstractContextManager["TestedTrees"]):
    """Head and base of one change over `wheel`, the folder that holds the environment's `torch/`. `builds` is None
    where no build command is configured. The trees may be used until the end of the `with` block.

    Everything here may raise `GitError`; what needs an overlay raises `SkewError`, and what needs a build
    `BuildFailedError` and `BuildStoppedError`.
    """

    __test__ = False
    checkout: Checkout
    wheel: Path
    builds: ShardBuilds | None = None
    _sides: dict[str, RunnerTree] = field(default_factory=dict, init=False)

    def __exit__(self, *exit_facts: object) -> None:
        if self.builds is not None:
            self.builds.__exit__(*exit_facts)

    @cached_property
    def entries(self) -> tuple[ChangedEntry, ...]:
        """What differs between the merge base and head."""
        checkout = self.checkout
        return changed_entries(checkout.mirror.git, checkout.base_sha, checkout.change.head_sha)

    @cached_property
    def built_files(self) -> str:
        """A clause that names what no overlay can stand for; empty when there is nothing."""
        suspects = needs_build(self.entries, ())
        return needs_build(self.entries, _harmless(self.checkout)) if suspects else ""

    @cached_property
    def overlay(self) -> Overlay:
        """What stands over the wheel on either side; nothing where torch is built."""
        if self.built_files:
            return Overlay((), ())
        return OverlayPlanner(self.checkout.mirror.git, self.wheel).plan(self.entries)

    @property
    def base_build(self) -> str:
        """Which build answers for base; empty where the wheel does."""
        if not self.built_files or self.builds is None:
            return ""
        return self.builds.digest(self.checkout.base_sha)

    def head(self) -> RunnerTree:
        """The change's test files, and torch with the change."""
        if "head" not in self._sides:
            torch = self._torch(self.checkout.change.head_sha, "overlay-head", self.overlay.head)
            self._sides["head"] = RunnerTree(self.checkout.head(), torch)
        return self._sides["head"]

    def base(self) -> RunnerTree:
        """The merge base's test files, and torch without the change."""
        if "base" not in self._sides:
            self._sides["base"] = RunnerTree(self.checkout.base(), self._base_torch())
        return self._sides["base"]

    def probed(self) -> RunnerTree:
        """Torch without the change, to see whether it can be imported; base's work tree is not made for that."""
        if "probed" not in self._sides:
            self._sides["probed"] = RunnerTree(self.checkout.head(), self._base_torch())
        return self._sides["probed"]

    def plain(self) -> RunnerTree:
        """The wheel as it is."""
        return RunnerTree(self.checkout.head(), None)

    def _base_torch(self) -> Path | None:
        return self._torch(self.checkout.base_sha, "overlay-base", self.overlay.base)

    def _torch(self, sha: str, name: str, replacements: tuple[Replacement, ...]) -> Path | None:
        if self.built_files and self.builds is not None:
            return self.builds.torch(sha)
        folder = self.checkout.folder / name
        return folder if folder.exists() else build_overlay(replacements, self.wheel, folder)


def _harmless(checkout: Checkout) -> frozenset[str]:
    """Paths of which stage 1 is certain that the change means nothing there (comments only, another backend only)."""
    change = _change_set(checkout)
    return frozenset(path for file in change.files if not file.matters for path in file.paths)


def _change_set(checkout: Checkout) -> ChangeSet:
    base_sha, head_sha = checkout.base_sha, checkout.change.head_sha
    diff = git_diff(checkout.repository, base_sha, head_sha)
    with GitTree(checkout.repository, base_sha) as base, GitTree(checkout.repository, head_sha) as head:
        return on_out_of_tree_device(analyse(diff, base, head))
