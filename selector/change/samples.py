"""From a function of the test databases to the entries, and so the operators, that use it.

A database is read once per analysis and only when a change asks for it: the largest has 25,000 lines.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property

from selector.change.opinfo import Entry, is_database, lists_of_entries, read_entries, users_of
from selector.change.python_text import PythonText, PythonTexts
from selector.change.reach import CallGraph
from selector.source import last_part, words

_FOLDER = "torch/testing/_internal/"
#: Where entries stand; the functions they use may stand beside them.
_DATABASES = (
    "common_methods_invocations.py", "common_modules.py", "common_optimizers.py", "opinfo/definitions/_masked.py",
    "opinfo/definitions/fft.py", "opinfo/definitions/linalg.py", "opinfo/definitions/nested.py",
    "opinfo/definitions/signal.py", "opinfo/definitions/sparse.py", "opinfo/definitions/special.py",
)  # fmt: skip
#: How functions that make inputs are called, with or without an underscore in front. Anything else that entries may
#: use, such as a decorator, can also matter to tests that have no entry.
_SAMPLERS = ("sample_", "error_", "reference_inputs", "reference_", "module_", "optim_", "generate_", "np_", "ref_")


class _Database:
    """One text of a database; who uses whom in it is worked out when first asked."""

    def __init__(self, text: PythonText, module: ast.Module) -> None:
        self._text = text
        self._module = module
        self.entries = read_entries(text)

    @cached_property
    def graph(self) -> CallGraph:
        return CallGraph(self._text, lists_of_entries(self._module))


class Samples:
    """The databases of one tree, and of changed files on both sides."""

    def __init__(self, head: PythonTexts) -> None:
        self._head = head
        self._said: dict[PythonText, frozenset[str]] = {}
        self._read: dict[PythonText, _Database | None] = {}

    def entries(self, path: str, text: PythonText) -> tuple[Entry, ...]:
        """The entries in `text`, which stands at `path`."""
        database = self._database(text) if is_database(path) and "Info(" in text.text else None
        return database.entries if database is not None else ()

    def users(self, path: str, symbol: str, texts: Sequence[PythonText]) -> tuple[tuple[Entry, str], ...]:
        """Entries that use a function of the file at `path`, whose sides are `texts`, directly or through others; with
        the arguments that do. None for a function that does not make inputs."""
        if not is_database(path) or not last_part(symbol).lstrip("_").startswith(_SAMPLERS):
            return ()
        found: dict[tuple[str, str], tuple[Entry, str]] = {}
        for entry, fields in self._using(path, symbol.partition(".")[0], texts):
            found.setdefault((entry.kind, entry.label), (entry, fields))
        return tuple(found.values())

    def _using(self, path: str, function: str, texts: Sequence[PythonText]) -> Iterator[tuple[Entry, str]]:
        names = frozenset({function})
        for text in texts:
            database = self._database(text)
            if database is not None:
                names |= database.graph.callers(names)
                yield from users_of(names, database.entries)
        for other in (_FOLDER + name for name in _DATABASES if _FOLDER + name != path):
            listed = self._head.read(other)
            database = self._database(listed) if listed is not None and names & self._words(listed) else None
            if database is not None:
                yield from users_of(database.graph.callers(names), database.entries)

    def _words(self, text: PythonText) -> frozenset[str]:
        if text not in self._said:
            self._said[text] = words(text.text)
        return self._said[text]

    def _database(self, text: PythonText) -> _Database | None:
        if text not in self._read:
            self._read[text] = None if text.module is None else _Database(text, text.module)
        return self._read[text]
