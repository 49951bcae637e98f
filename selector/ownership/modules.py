"""Paths of the tree as the dotted modules that test files import.

`import torch` and its bare submodule `torch.testing` stand in every test file and say nothing, so they are no edges.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from functools import lru_cache
from pathlib import PurePosixPath

from selector.catalog import TestFile

_EVERYWHERE = frozenset({"torch", "torch.testing", "torch.testing._internal", "functorch"})


@lru_cache(maxsize=1 << 12)
def module_name(path: str) -> str:
    """`torch.nn.functional` for `torch/nn/functional.py`; a package for its `__init__.py`."""
    parts = PurePosixPath(path).with_suffix("").parts
    return ".".join(parts[:-1] if parts and parts[-1] == "__init__" else parts)


def imports_directly(file: TestFile, path: str) -> str | None:
    """The name under which a test file imports, or names in full, the module at `path`."""
    return next((name for name in _names_for(file, path) if _names(file, name)), None)


def imports_package(file: TestFile, path: str) -> str | None:
    """The nearest package around `path` that a test file imports; the hubs above all modules do not count."""
    parts = module_name(path).split(".")
    packages = (".".join(parts[:size]) for size in range(len(parts) - 1, 1, -1))
    return next((package for package in packages if _names(file, package)), None)


def _names(file: TestFile, name: str) -> bool:
    return (name in file.imports or name in file.uses) and name not in _EVERYWHERE


def _names_for(file: TestFile, path: str) -> Iterator[str]:
    """Names of one module as seen from a test file: from the root, from `test/`, and from the file's own folder."""
    yield module_name(path)
    for folder in ("test", posixpath.dirname(file.path)):
        if path.startswith(folder + "/"):
            yield module_name(path.removeprefix(folder + "/"))
