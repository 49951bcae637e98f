"""The way from pytest's root folder to the one file that was ordered, without looking at its neighbours.

pytest would look at every entry of every folder on the way, which in PyTorch's `test` folder takes longer than a fork.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest


class OneFile:
    """A pytest plugin. Packages (folders with `__init__.py`) are left to pytest: they have a set-up of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        if path not in self._path.parents or (path / "__init__.py").exists():
            return None
        return _Folder.on_the_way(parent, path, self._path)


class _Folder(pytest.Directory):
    """A folder of which one entry counts."""

    target: Path

    @classmethod
    def on_the_way(cls, parent: pytest.Collector, path: Path, target: Path) -> _Folder:
        folder: _Folder = cls.from_parent(parent, path=path)
        folder.target = target
        return folder

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        entry = self.path / self.target.relative_to(self.path).parts[0]
        if entry == self.target:
            yield from self.ihook.pytest_collect_file(file_path=entry, parent=self)
        else:
            folder = self.ihook.pytest_collect_directory(path=entry, parent=self)
            if folder is not None:
                yield folder
