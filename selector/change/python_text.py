"""The Python files of a change, each text of which is parsed once.

Owns the syntax trees that the rules of stage 1 share. Nobody changes a tree: who needs it without something builds a
new one of the nodes that stay.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cached_property

from selector.source import parse_module, source_lines
from selector.trees import SourceTree


class PythonText:
    """One text of a Python file; its tree is taken when first asked for. Equal only to itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def module(self) -> ast.Module | None:
        """The tree, or `None` when the text does not parse. Not to be changed."""
        return parse_module(self.text)

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines as the tree numbers them, the first at 0."""
        return source_lines(self.text)


class PythonTexts:
    """The Python files of one tree. Those that several rules ask for are kept: the test databases and what packages
    export. A change may have hundreds of other files, whose trees would fill the memory."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._kept: dict[str, PythonText | None] = {}

    def read(self, path: str) -> PythonText | None:
        """The file at `path`, or `None` when it cannot be read."""
        if path in self._kept:
            return self._kept[path]
        text = self._tree.read(path)
        found = None if text is None else PythonText(text)
        if path.endswith("/__init__.py") or path.startswith("torch/testing/_internal/"):
            self._kept[path] = found
        return found
