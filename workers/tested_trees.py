"""The two sides of a comparison as the runner takes them: the wheel with the change laid over it, and without.

Owns when work trees and overlays are made: base's only when a failure on head asks for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from workers.changed_files import ChangedEntry, changed_entries
from workers.checkout import Checkout
from workers.overlay import Overlay, OverlayPlanner, build_overlay, installed_wheel
from workers.runner.types import RunnerTree


@dataclass(slots=True)
class TestedTrees:
    """Head and base of one change. `prepare` raises `SkewError` when this wheel cannot answer for the change."""

    __test__ = False
    checkout: Checkout
    overlay: Overlay | None = field(default=None, init=False)
    _entries: tuple[ChangedEntry, ...] | None = field(default=None, init=False)
    _head: RunnerTree | None = field(default=None, init=False)
    _base: RunnerTree | None = field(default=None, init=False)

    @property
    def entries(self) -> tuple[ChangedEntry, ...]:
        """What differs between the merge base and head."""
        if self._entries is None:
            checkout = self.checkout
            self._entries = changed_entries(checkout.mirror.git, checkout.base_sha, checkout.change.head_sha)
        return self._entries

    def prepare(self) -> Overlay:
        """Work out the overlay without writing it."""
        if self.overlay is None:
            self.overlay = OverlayPlanner(self.checkout.mirror.git, installed_wheel()).plan(self.entries)
        return self.overlay

    def head(self) -> RunnerTree:
        """The change's test files, and torch with the change."""
        if self._head is None:
            torch_path = build_overlay(self.prepare().head, installed_wheel(), self.checkout.folder / "overlay-head")
            self._head = RunnerTree(self.checkout.head(), torch_path)
        return self._head

    def base(self) -> RunnerTree:
        """The merge base's test files, and torch without the change."""
        if self._base is None:
            torch_path = build_overlay(self.prepare().base, installed_wheel(), self.checkout.folder / "overlay-base")
            self._base = RunnerTree(self.checkout.base(), torch_path)
        return self._base
