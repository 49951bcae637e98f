"""What the modules of the library import, and so by which of them a module is used: `Library`.

Names lead to modules as Python resolves them, without running anything: `torch._dynamo.utils.clone_input` is the module
`torch._dynamo.utils`. The harness under `torch/testing` is left out, since every test runs on it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from selector.catalog.imports import read_imports

_LIBRARY = re.compile(r"(?:torch/(?!testing/|csrc/|lib/)|functorch/(?!test/|csrc/|examples/|benchmarks/)).*\.py$")
_PACKAGE = "/__init__.py"


def is_library(path: str) -> bool:
    """Whether a file is a module of the library."""
    return _LIBRARY.match(path) is not None


def imported_names(path: str, text: str | None) -> frozenset[str]:
    """The modules and names that a module imports, dotted, those inside functions included."""
    return read_imports(path, text).names if text is not None else frozenset()


@dataclass(frozen=True)
class Library:
    """`imports` are the imported names of each module by its path."""

    imports: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def module_of(self, name: str) -> str | None:
        """The path of the module that a dotted name is, or is of."""
        around = name
        while around and around not in self._known:
            around = around.rpartition(".")[0]
        return self._known.setdefault(name, self._known.get(around))

    @cached_property
    def _known(self) -> dict[str, str | None]:
        """What names were found to be, the modules themselves to begin with."""
        return {_dotted(path): path for path in self.imports}

    @cached_property
    def importers(self) -> Mapping[str, tuple[str, ...]]:
        """By the path of a module those of the modules that import it or something of it, sorted."""
        found: dict[str, set[str]] = {}
        for path, names in self.imports.items():
            for module in self._modules(names):
                if module != path:
                    found.setdefault(module, set()).add(path)
        return {path: tuple(sorted(importers)) for path, importers in found.items()}

    def _modules(self, names: frozenset[str]) -> Iterator[str]:
        return (module for name in names if (module := self.module_of(name)) is not None)


def _dotted(path: str) -> str:
    return (path.removesuffix(_PACKAGE) if path.endswith(_PACKAGE) else path.removesuffix(".py")).replace("/", ".")
