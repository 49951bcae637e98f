"""The imports of a test file, read from its text so that a file that does not parse has them too.

Owns how an imported name is spelt: dotted, from the root of the tree where it is relative. Which file a module is, is
decided where the whole tree is known (`selector.catalog.edges`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))", re.MULTILINE
)
_COMMENT = re.compile(r"#[^\n]*")
_DOTTED = re.compile(r"[\w.]+")


@dataclass(frozen=True, slots=True)
class Imports:
    """`names` are the imported modules and the names taken from them, dotted; `local` maps a name bound here to the
    module and name it comes from; `starred` are the modules from which everything is taken."""

    names: frozenset[str]
    local: dict[str, tuple[str, str]]
    starred: tuple[str, ...]


def read_imports(path: str, text: str) -> Imports:
    """All imports of the file at `path`, those inside functions included."""
    names: set[str] = set()
    local: dict[str, tuple[str, str]] = {}
    starred: list[str] = []
    for dotted, bound in _imports(path, text):
        if bound == "*":
            starred.append(dotted)
            continue
        names.add(dotted)
        module, _, name = dotted.rpartition(".")
        if bound and module:
            local[bound] = (module, name)
    return Imports(frozenset(names), local, tuple(dict.fromkeys(starred)))


def _imports(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Pairs of imported dotted name and the local name it is bound to, `from` imports with their module as well."""
    for module, names, plain in _IMPORT.findall(text):
        if plain:
            yield from ((name, alias or name.split(".")[0]) for name, alias in _items(plain))
            continue
        absolute = _absolute(path, module)
        yield absolute, ""
        if names.strip() == "*":
            yield absolute, "*"
        yield from ((f"{absolute}.{name}", alias or name) for name, alias in _items(names))


def _items(listing: str) -> Iterator[tuple[str, str]]:
    if "#" in listing:
        listing = _COMMENT.sub("", listing)
    for item in listing.strip("()\\ \t\n").split(","):
        name, _, alias = item.strip().partition(" as ")
        if _DOTTED.fullmatch(name.strip()):
            yield name.strip(), alias.strip() if _DOTTED.fullmatch(alias.strip()) else ""


def _absolute(path: str, module: str) -> str:
    """A relative module of a file as a dotted path from the root of the tree: `.common` -> `test.inductor.common`."""
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    parents = list(PurePosixPath(path).parents)
    folder = parents[min(dots - 1, len(parents) - 1)]
    return ".".join(part for part in (*folder.parts, module.lstrip(".")) if part)
