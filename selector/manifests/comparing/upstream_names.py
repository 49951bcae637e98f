"""The test names of an upstream tree, asked for the way manifests spell them. Reads the static catalog; knows nothing
of modes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

from selector.catalog import Catalog, build_catalog
from selector.manifests.dtypes import dtype_in_name
from selector.trees import SourceTree
from selector.types import BaseTest

#: Test classes that live outside the test files, from which test files inherit methods.
_SHARED = re.compile(r"torch/testing/_internal/.*\.py$")
_TEST_FUNCTION = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+(test_\w+)", re.MULTILINE)
#: Decorators of upstream that add words of their own to a method's name (`common_device_type.py` and `common_utils.py`
#: in `torch/testing/_internal`); others add the device and the dtype only, which are known by themselves.
_GENERATING = frozenset({"ops", "modules", "optims", "parametrize", "reparametrize"})
_DEVICES = frozenset({"cpu", "cuda", "privateuse1", "meta", "mps", "xpu", "xla", "hpu", "spyre"})
_GENERATED_CLASS = re.compile(r"[A-Z0-9]+")
_GLOB_CHARACTERS = frozenset("*?[")


class UpstreamNames:
    """Test names of one tree. Building it indexes all test files: seconds for PyTorch."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._paths = frozenset(tree.paths())
        self._catalog: Catalog = build_catalog(tree)
        self._owners = {path: _owners(self._catalog, path) for path in self._catalog.files}

    def has_file(self, file: str) -> bool:
        """Whether the tree has this file, test file or not."""
        return file in self._paths

    def is_indexed(self, file: str) -> bool:
        """Whether the names of the file are known: it is a test file by its name, and it parses."""
        found = self._catalog.files.get(file)
        return found is not None and found.parsed

    def makes_tests(self, file: str) -> bool:
        """Whether some tests of the file are made when it is imported, so that its text does not name them."""
        return any(entry.test.is_rest_of_file for entry in self._catalog.files[file].tests)

    def tests(self, file: str) -> tuple[BaseTest, ...]:
        """The tests that the text of a file names; none for a file that is not there."""
        found = self._catalog.files.get(file)
        return tuple(entry.test for entry in found.tests if not entry.test.is_rest_of_file) if found else ()

    def methods(self, file: str) -> Collection[str]:
        """The test methods of a file, of whatever class."""
        return self._owners.get(file, {}).keys()

    def classes(self, file: str, method: str) -> frozenset[str]:
        """The classes of a file that run a method; empty text stands for a module-level test."""
        return self._owners.get(file, {}).get(method, frozenset())

    def is_class(self, cls: str, classes: Collection[str]) -> bool:
        """Whether the class half of a name means one of the classes: none, a glob (`*TestX*`) and a generated class
        (`TestXPRIVATEUSE1`) do as well as the name itself.
        """
        if not cls or not _GLOB_CHARACTERS.isdisjoint(cls):
            return not cls or any(fnmatchcase(found, cls) for found in classes)
        return any(found == cls or (found and _is_generated_from(cls, found)) for found in classes)

    def is_inherited(self, method: str) -> bool:
        """Whether a class outside the test files defines the method: its heirs are not known from the text."""
        return method in self._shared

    def base_of(self, file: str, method: str) -> str:
        """The longest base of which a name looks generated: by a device, a dtype, or a decorator that makes variants.
        Empty when there is none."""
        words = method.split("_")
        for length in range(len(words) - 1, 1, -1):
            base, rest = "_".join(words[:length]), words[length:]
            if base in self.methods(file) and (self._generates(file, base) or _looks_generated(rest)):
                return base
        return ""

    def elsewhere(self, cls: str, method: str) -> Sequence[str]:
        """Other files with a method: those with the class too where there are any, else a single one."""
        files = self._files.get(method, ())
        same = tuple(file for file in files if cls and cls in self.classes(file, method))
        return same or (files if len(files) == 1 else ())

    def files_with(self, methods: Iterable[str]) -> list[tuple[str, int]]:
        """Files with more than half of the methods, best first, and how many they have."""
        wanted = list(methods)
        counts = Counter(file for method in wanted for file in self._files.get(method, ()))
        return [(file, count) for file, count in counts.most_common() if count * 2 > len(wanted)]

    @cached_property
    def _files(self) -> dict[str, tuple[str, ...]]:
        found: dict[str, list[str]] = {}
        for file, owners in self._owners.items():
            for method in owners:
                found.setdefault(method, []).append(file)
        return {method: tuple(files) for method, files in found.items()}

    @cached_property
    def _shared(self) -> frozenset[str]:
        texts = (self._tree.read(path) or "" for path in sorted(self._paths) if _SHARED.match(path))
        return frozenset(name for text in texts for name in _TEST_FUNCTION.findall(text))

    def _generates(self, file: str, base: str) -> bool:
        entries = self._catalog.files[file].tests
        return any(entry.test.name == base and not _GENERATING.isdisjoint(entry.decorators) for entry in entries)


def _owners(catalog: Catalog, path: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for entry in catalog.files[path].tests:
        if not entry.test.is_rest_of_file:
            found.setdefault(entry.test.name, set()).add(entry.test.cls)
    return {name: frozenset(classes) for name, classes in found.items()}


def _is_generated_from(cls: str, base: str) -> bool:
    return cls.startswith(base) and _GENERATED_CLASS.fullmatch(cls.removeprefix(base)) is not None


def _looks_generated(rest: Sequence[str]) -> bool:
    return not _DEVICES.isdisjoint(rest) or dtype_in_name(f"_{'_'.join(rest)}") is not None
