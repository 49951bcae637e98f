"""The databases of operators of one tree, read off its text: `read_operators`.

Owns where upstream keeps them, what is kept of a reading, and which definitions of the test library entries lead to.
Read are the operators and their Python references, the foreach functions and the higher-order operators; the inputs for
nested tensors are made from the entries of these and are no entries of their own.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from selector.catalog.record import RecordError
from selector.catalog.store import CatalogCache
from selector.catalog.version import PARSER
from selector.collector import collector_paused
from selector.trees import IdentifiedTree, SourceTree, blob_id_of
from selector.upgrade.operators.entries import entry_name, read_entry
from selector.upgrade.operators.evaluation import Applied, Instance, Interpreter, Unread, Value
from selector.upgrade.operators.library import Library
from selector.upgrade.operators.record import VERSION, pack_operators, unpack_operators
from selector.upgrade.operators.table import OperatorEntry, OperatorTable
from selector.upgrade.types import Place

_FOLDER = "torch/testing/_internal/"
#: What is followed: the databases, the classes of their entries, and the functions that give dtypes, which old releases
#: have in a file of their own.
_FOLLOWED = re.compile(
    rf"{_FOLDER}(?:opinfo/(?:\w+/)*\w+|common_methods_invocations|common_dtype|hop_db)\.py|torch/testing/_legacy\.py"
)
_DATABASES = ("torch.testing._internal.common_methods_invocations", "torch.testing._internal.hop_db")
_LIST = re.compile(r"\w+_(?:db|funcs|ops|refs|ufuncs)")
_SHOWN = 20
_LIBRARY = "torch/testing/"


def read_operators(tree: SourceTree, cache: CatalogCache | None = None) -> OperatorTable:
    """The operators of a tree, an empty table with a note for one that has no database of them. Takes a few seconds
    for PyTorch's, and hundredths of one with a `cache` that has it."""
    paths = [path for path in tree.paths() if path.startswith(_LIBRARY) and path.endswith(".py")]
    key = _key(tree, paths) if cache is not None and PARSER and VERSION else ""
    if cache is not None and key and (record := cache.load(PARSER, [key]).get(key)) is not None:
        try:
            return unpack_operators(record)
        except RecordError:
            pass  # of another version, or damaged: it is read anew and replaced
    with collector_paused():
        table = _read(tree, paths)
    if cache is not None and key:
        cache.keep(PARSER, [key], {key: pack_operators(table)})
    return table


def _read(tree: SourceTree, paths: Sequence[str]) -> OperatorTable:
    reading = _Reading(Interpreter(tree, lambda path: _FOLLOWED.fullmatch(path) is not None))
    for dotted in _DATABASES:
        module = reading.interpreter.module(dotted)
        for name, value in module.names.items() if module is not None else ():
            if module is not None and _LIST.fullmatch(name):
                reading.take(name, value, module.path)
    definitions = Library(tree, paths).reached(reading.entries.values())
    return OperatorTable(reading.entries, reading.lists, definitions, tuple(reading.all_notes()))


@dataclass
class _Reading:
    """The entries and lists found so far. An entry stands in several lists and is one all the same."""

    interpreter: Interpreter
    entries: dict[str, OperatorEntry] = field(default_factory=dict)
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    _names: dict[int, str] = field(default_factory=dict)

    def take(self, name: str, value: Value, path: str) -> None:
        """A name of a database and what it is worth."""
        if isinstance(value, list) and any(map(_is_entry, value)):
            self.lists[name] = tuple(found for one in value if (found := self._name_of(one, path)))
        elif isinstance(value, Unread):
            self.notes.append(f"{path}: which entries are in {name} is not known")

    def all_notes(self) -> Iterator[str]:
        """What was not understood on the way and what is not known in the end."""
        yield from self.interpreter.notes
        yield from self.notes
        if not self.entries:
            yield f"there is no database of operators in {_FOLDER} of this tree, or none that can be read"
        if unknown := [entry.name for entry in self.entries.values() if entry.dtypes is None]:
            yield f"the dtypes of {len(unknown)} entries are not known: {', '.join(unknown[:_SHOWN])}"
        if self.interpreter.assumed:
            yield f"read as on a machine that has nothing special: {', '.join(sorted(self.interpreter.assumed))}"

    def _name_of(self, value: Value, path: str) -> str:
        """The name under which the table has an entry, which is taken in when it is met first; empty: there is none."""
        if id(value) not in self._names:
            name = entry_name(value.fields if isinstance(value, Instance) else _said(value))
            self._names[id(value)] = name = self._free(name) if name else ""
            if _is_entry(value):
                self.entries[name] = read_entry(name, value)
            elif name:
                self.entries[name] = OperatorEntry(name, "", Place(path), None, None)
            else:
                self.notes.append(f"{path}: an entry without a name that the text tells")
        return self._names[id(value)]

    def _free(self, name: str) -> str:
        place = 2
        free = name
        while free in self.entries:
            free, place = f"{name} ({place})", place + 1
        return free


def _is_entry(value: Value) -> bool:
    return isinstance(value, Instance) and value.cls.is_a("OpInfo")


def _said(value: Value) -> Mapping[str, Value]:
    """What is said of an entry that could not be made."""
    if not isinstance(value, Applied):
        return {}
    return {**value.keywords, **({"name": value.arguments[0]} if value.arguments else {})}


def _key(tree: SourceTree, paths: Sequence[str]) -> str:
    """Of the content of all that may be read."""
    digest = hashlib.sha256(VERSION.encode())
    for path in paths:
        digest.update(f"{path}\0{_blob_id(tree, path)}\0".encode())
    return f"{digest.hexdigest()} operators"


def _blob_id(tree: SourceTree, path: str) -> str | None:
    if isinstance(tree, IdentifiedTree):
        return tree.blob_id(path)
    text = tree.read(path)
    return None if text is None else blob_id_of(text.encode("utf-8", errors="surrogatepass"))
