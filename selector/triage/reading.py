"""Tools that read the changed tree: `read_file`, `grep` and `symbol_refs`.

A path has to be one of the tree's own paths, letter by letter: nothing is joined, resolved or matched, so an absolute
path, `..` or a link names nothing. Searches are for literal text, and bounded in files, bytes, hits and time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from selector.trees import SourceTree
from selector.triage.tools import Parameter, Tool, ToolError

_LINES_CAP = 200
_LINE_CAP = 240
_HITS_CAP = 40
_HITS_PER_FILE = 8
#: Characters one search looks through; PyTorch's Python sources have about 60 million.
_SEARCHED_CAP = 80_000_000
_SEARCH_S = 5.0
_SEARCHED = (".py", ".pyi", ".yaml", ".cpp", ".h", ".cu", ".cuh", ".txt")
_IDENTIFIER = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*", re.ASCII)


@dataclass
class TreeReader:
    """Answers from one tree. `clock` gives seconds that never go back."""

    tree: SourceTree
    clock: Callable[[], float]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The three tools."""
        folder = Parameter(str, "only paths that start like this, for example test/nn/", "torch/")
        return (
            Tool(
                "read_file",
                f"Lines of a file of the changed tree, at most {_LINES_CAP}.",
                {
                    "path": Parameter(str, "path inside the tree, as listed"),
                    "start": Parameter(int, "first line, from 1", 1),
                    "end": Parameter(int, "last line", _LINES_CAP),
                },
                self.read_file,
            ),
            Tool(
                "grep",
                "Places where a literal text (no pattern) stands in the tree.",
                {"text": Parameter(str, "the text, case counts"), "under": folder},
                self.grep,
            ),
            Tool(
                "symbol_refs",
                "Places where a Python name stands as a whole word.",
                {"symbol": Parameter(str, "an identifier, dotted or not"), "under": folder},
                self.symbol_refs,
            ),
        )

    def read_file(self, path: str, start: int, end: int) -> str:
        if path not in self._known:
            raise ToolError("the tree has no such path")
        text = self.tree.read(path)
        if text is None:
            raise ToolError("this file is no text, or too large")
        lines = text.split("\n")
        last = min(end, start + _LINES_CAP - 1, len(lines))
        if start > last:
            raise ToolError(f"the file has {len(lines)} lines")
        return "\n".join(f"{number}: {lines[number - 1][:_LINE_CAP]}" for number in range(start, last + 1))

    def grep(self, text: str, under: str) -> str:
        if "\n" in text or len(text) < 3:
            raise ToolError("text has to be 3 characters or more on one line")
        return self._found(under, text, lambda line: text in line)

    def symbol_refs(self, symbol: str, under: str) -> str:
        if not _IDENTIFIER.fullmatch(symbol):
            raise ToolError("symbol has to be an identifier")
        # of checked letters only, and without repetition: it cannot take long on any line
        whole = re.compile(rf"(?<![\w.]){re.escape(symbol)}(?!\w)" if "." in symbol else rf"\b{re.escape(symbol)}\b")
        return self._found(under, symbol, lambda line: whole.search(line) is not None)

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.tree.paths())

    def _found(self, under: str, literal: str, fits: Callable[[str], bool]) -> str:
        hits: list[str] = []
        for path, text in self._texts(under):
            if text is None:
                hits.append("[search ended: it took too long]")
                break
            if literal in text:
                hits += _hits(path, text, literal, fits)
            if len(hits) >= _HITS_CAP:
                return "\n".join((*hits[:_HITS_CAP], "[more not shown]"))
        return "\n".join(hits) or "no place found"

    def _texts(self, under: str) -> Iterator[tuple[str, str | None]]:
        """Paths with their text; one without text when a limit is reached."""
        until, room = self.clock() + _SEARCH_S, _SEARCHED_CAP
        for path in sorted(self._known):
            if not path.startswith(under) or not path.endswith(_SEARCHED):
                continue
            if self.clock() > until or room <= 0:
                yield path, None
                return
            text = self.tree.read(path) or ""
            room -= len(text)
            yield path, text


def _hits(path: str, text: str, literal: str, fits: Callable[[str], bool]) -> list[str]:
    found: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if literal in line and fits(line):
            found.append(f"{path}:{number}: {line.strip()[:_LINE_CAP]}")
            if len(found) >= _HITS_PER_FILE:
                break
    return found
