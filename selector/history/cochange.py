"""Which files changed together with those of a change, in the year before its base commit and never after."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from selector.history.commits import Commit
from selector.history.store import CommitStore

WINDOW_S = 365 * 24 * 3600
#: After this long a common commit counts half.
_HALF_LIFE_S = 120 * 24 * 3600
#: Commits of more files than this are sweeps over the tree and say nothing about any two of them.
_SWEEP_FILES = 100


class CoChange:
    """The view of one store from one base commit: later commits, and those dated later, do not exist for it.

    A base that the store has not read gives no answers, never answers from another time.
    """

    def __init__(self, store: CommitStore, base: str) -> None:
        self._store = store
        self._position = store.position(base)
        self._now = 0 if self._position is None else store.seconds(self._position)

    def changed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        """For each path the files that changed with it and how strongly: the sum over their common commits of
        1/(files in the commit), halved for every 120 days of age. Paths without a past are left out."""
        found = {path: self._partners(path) for path in sorted(set(paths))}
        return {path: partners for path, partners in found.items() if partners}

    def _partners(self, path: str) -> dict[str, float]:
        if self._position is None:
            return {}
        partners: dict[str, float] = {}
        for commit in self._store.touching(path, self._position, self._now - WINDOW_S, self._now):
            weight = self._weight(commit)
            for other in commit.files:
                if weight and other != path:
                    partners[other] = partners.get(other, 0.0) + weight
        return partners

    def _weight(self, commit: Commit) -> float:
        if len(commit.files) > _SWEEP_FILES:
            return 0.0
        return float(0.5 ** ((self._now - commit.seconds) / _HALF_LIFE_S)) / len(commit.files)
