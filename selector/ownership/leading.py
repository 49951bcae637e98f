"""Which test files use modules from which imports lead to a changed one, however far away it is.

A test that says `torch.export` and nothing else runs the compiler below it. So each module is near a change by the
imports that lie between; a test file is as near as the modules that it names, and the fewer other test files name
those, the more that says.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from selector.catalog import Catalog, Library, TestFile
from selector.change import Category, ChangeSet

#: What is left of the nearness of a module in one that imports it, if it is the only one to do so.
_PER_IMPORT = 0.8
#: Imports between a test and the change beyond which all code is related.
_FARTHEST = 6
#: Packages that all code imports: through them everything leads to everything.
_ROOTS = frozenset({"torch/__init__.py", "functorch/__init__.py"})
#: How steep the scale of a signal is: what counts is the order of the files more than how far they are apart.
_STEEP = 20.0


@dataclass(frozen=True, slots=True)
class _Near:
    """A module as near to the changed module `to`: 1 for itself, less with each import in between."""

    nearness: float
    to: str
    imports: int = 0


def leading_to(change: ChangeSet, catalog: Catalog) -> dict[str, tuple[float, str]]:
    """The test files from which imports lead to a changed module: how strongly, as a share of the best on a logarithmic
    scale (0 to 1), and through which module."""
    near = _nearness(_changed_modules(change, catalog.library), catalog.library)
    if not near:
        return {}
    named = {path: modules for path, file in catalog.files.items() if (modules := _named(file, catalog.library, near))}
    spread = Counter(module for modules in named.values() for module in modules)
    worth = {module: near[module].nearness * _rarity(spread[module], len(catalog.files)) for module in spread}
    sums = {path: math.fsum(worth[module] for module in modules) for path, modules in named.items()}
    best = max(sums.values(), default=1.0)
    return {path: (_scaled(total / best), _evidence(named[path], near, worth)) for path, total in sums.items()}


def _changed_modules(change: ChangeSet, library: Library) -> list[str]:
    """The changed modules of the library in the order of the diff. One that is gone has no importers any more."""
    python = (it for it in change.relevant if it.category is Category.PYTHON_SOURCE and not it.only_documents)
    return [file.path for file in python if file.path in library.imports and file.path not in _ROOTS]


def _nearness(changed: Iterable[str], library: Library) -> Mapping[str, _Near]:
    """How near each module is to the changed ones. Of what a module passes on, each of its importers has the less, the
    more of them there are."""
    near = {path: _Near(1.0, path) for path in changed}
    frontier = dict(near)
    for imports in range(1, _FARTHEST + 1):
        following: dict[str, _Near] = {}
        for module, seen in frontier.items():
            importers = library.importers.get(module, ())
            left = seen.nearness * _PER_IMPORT / (1.0 + math.log(max(1, len(importers))))
            for importer in importers:
                known = following.get(importer) or near.get(importer)
                if importer not in _ROOTS and (known is None or left > known.nearness):
                    following[importer] = _Near(left, seen.to, imports)
        near.update(following)
        frontier = following
    return near


def _named(file: TestFile, library: Library, near: Mapping[str, _Near]) -> Sequence[str]:
    """The modules near the change that a test file names, sorted."""
    modules = {library.module_of(name) for names in (file.imports, file.uses) for name in names}
    return sorted(module for module in modules if module is not None and module in near)


def _rarity(spread: int, files: int) -> float:
    return math.log(1 + (files - spread + 0.5) / (spread + 0.5))


def _scaled(share: float) -> float:
    return round(math.log1p(_STEEP * share) / math.log1p(_STEEP), 6)


def _evidence(modules: Iterable[str], near: Mapping[str, _Near], worth: Mapping[str, float]) -> str:
    best = max(modules, key=lambda module: (worth[module], module))
    seen = near[best]
    if not seen.imports:
        return f"names {best}"
    return f"names {best}, from where {_steps(seen.imports)} to {seen.to}"


def _steps(imports: int) -> str:
    return "an import leads" if imports == 1 else f"{imports} imports lead"
