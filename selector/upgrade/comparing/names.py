"""From a name that a file says to the definition it means, through imports, stars, packages and base classes.

Names lead as Python resolves them, without running anything. A name of compiled code, of another project, or one that
is made while it runs leads nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from selector.catalog.edges import module_paths
from selector.upgrade.comparing.definitions import Definition, FileDefinitions, Kind

#: Imports that one name is followed through.
_HOPS = 12
_BASES = 64


class Symbol(NamedTuple):
    """A definition by its file and qualified name."""

    path: str
    name: str


class Names:
    """The names of one tree."""

    def __init__(self, files: Mapping[str, FileDefinitions]) -> None:
        self._files = files
        self._modules: dict[tuple[str, str], str | None] = {}
        self._led: dict[tuple[str, str], Symbol | None] = {}
        self._lineages: dict[Symbol, tuple[Symbol, ...]] = {}
        self._members: dict[tuple[Symbol, str, Symbol | None], Symbol | None] = {}
        self._offered: dict[Symbol, frozenset[str]] = {}
        self._inside: dict[str, dict[str, list[str]]] = {}

    def definition(self, symbol: Symbol) -> Definition | None:
        if symbol.path not in self._files:
            return None
        return self._files[symbol.path].definitions.get(symbol.name)

    def lead(self, path: str, dotted: str) -> Symbol | None:
        """What a name means in the file at `path`; of a class's attribute the class where nothing more is known."""
        key = (path, dotted)
        if key not in self._led:
            self._led[key] = self._in_file(path, dotted.split("."), _HOPS)
        return self._led[key]

    def dotted(self, path: str, name: str) -> str:
        """A name that a file says, from the root: `torch.nn.functional.gelu` for `F.gelu`."""
        root, _, rest = name.partition(".")
        around = self._files[path].imported.get(root, root) if path in self._files else root
        return f"{around}.{rest}" if rest else around

    def member(self, cls: Symbol, name: str, after: Symbol | None = None) -> Symbol | None:
        """What an attribute of a class is, which the class or one that it inherits from defines; for `super()` one that
        comes after the class where that is said."""
        key = (cls, name, after)
        if key not in self._members:
            self._members[key] = self._found_member(cls, name, after)
        return self._members[key]

    def lineage(self, cls: Symbol) -> tuple[Symbol, ...]:
        """A class and those it inherits from, the nearest first."""
        if cls not in self._lineages:
            self._lineages[cls] = ()  # for a class that inherits from itself by its name
            self._lineages[cls] = self._ancestors(cls)
        return self._lineages[cls]

    def members(self, cls: Symbol) -> list[Symbol]:
        """What a class itself defines."""
        if cls.path not in self._inside:
            inside: dict[str, list[str]] = {}
            for name in self._files[cls.path].definitions:
                inside.setdefault(name.rpartition(".")[0], []).append(name)
            self._inside[cls.path] = inside
        return [Symbol(cls.path, name) for name in self._inside[cls.path].get(cls.name, ())]

    def offered(self, cls: Symbol) -> frozenset[str]:
        """The names that a class and those it inherits from define."""
        if cls not in self._offered:
            members = (member for one in self.lineage(cls) for member in self.members(one))
            self._offered[cls] = frozenset(member.name.rpartition(".")[2] for member in members)
        return self._offered[cls]

    def _found_member(self, cls: Symbol, name: str, after: Symbol | None) -> Symbol | None:
        lineage = self.lineage(cls)
        if after in lineage:
            lineage = lineage[lineage.index(after) + 1 :]
        for one in lineage:
            if f"{one.name}.{name}" in self._files[one.path].definitions:
                return Symbol(one.path, f"{one.name}.{name}")
        return None

    def _ancestors(self, cls: Symbol) -> tuple[Symbol, ...]:
        lineage: dict[Symbol, None] = {}
        waiting = [cls]
        while waiting and len(lineage) < _BASES:
            current = waiting.pop(0)
            definition = self.definition(current)
            if current in lineage or definition is None or definition.kind is not Kind.CLASS:
                continue
            lineage[current] = None
            bases = (self.lead(current.path, base) for base in definition.bases)
            waiting += [base for base in bases if base is not None]
        return tuple(lineage)

    def _in_file(self, path: str, parts: list[str], hops: int) -> Symbol | None:
        if path not in self._files or not parts or hops <= 0:
            return None
        file = self._files[path]
        if parts[0] in file.definitions:
            return self._attribute(Symbol(path, parts[0]), parts[1:])
        if parts[0] in file.imported:
            return self._from(path, [*file.imported[parts[0]].split("."), *parts[1:]], hops - 1)
        for module in file.starred:
            starred = self._module(_folder(path), module)
            if starred not in (None, path) and (found := self._in_file(str(starred), parts, hops - 1)):
                return found
        return self._in_package(path, parts, hops)

    def _in_package(self, path: str, parts: list[str], hops: int) -> Symbol | None:
        """A module of a package, said by way of the package."""
        if not path.endswith("/__init__.py") or len(parts) < 2:
            return None
        inside = f"{_folder(path)}/{parts[0]}"
        module = next((one for one in (f"{inside}/__init__.py", f"{inside}.py") if one in self._files), None)
        return self._in_file(module, parts[1:], hops - 1) if module is not None else None

    def _from(self, path: str, parts: list[str], hops: int) -> Symbol | None:
        """What a dotted name from the root means: of a module as long as can be."""
        for size in range(len(parts) - 1, 0, -1):
            module = self._module(_folder(path), ".".join(parts[:size]))
            if module is not None and (found := self._in_file(module, parts[size:], hops - 1)):
                return found
        return None

    def _attribute(self, symbol: Symbol, rest: list[str]) -> Symbol:
        definition = self.definition(symbol)
        if not rest or definition is None or definition.kind is not Kind.CLASS:
            return symbol
        found = self.member(symbol, rest[0])
        return symbol if found is None else self._attribute(found, rest[1:])

    def _module(self, folder: str, module: str) -> str | None:
        """The file of a module that one in `folder` imports; beside itself only a test finds one."""
        around = folder if folder.startswith(("test", "functorch/test")) else ""
        key = (around, module)
        if key not in self._modules:
            candidates = module_paths(around, module)
            packages = (f"{path.removesuffix('.py')}/__init__.py" for path in candidates)
            pairs = zip(candidates, packages, strict=True)
            found = (path for pair in pairs for path in reversed(pair) if path in self._files)
            self._modules[key] = next(found, None)
        return self._modules[key]


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
