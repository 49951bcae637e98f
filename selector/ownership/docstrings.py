"""The rule for documentation: tests that read docstrings, or run the examples in them, notice that one changed."""

from __future__ import annotations

from collections.abc import Iterator

from selector.catalog import Catalog
from selector.change import Effect, FileChange
from selector.ownership.links import Link, link

#: By what a test gets at docstrings: the attribute, `inspect.getdoc`, the module that runs examples and its like.
_READING = frozenset({"__doc__", "getdoc", "doctest", "xdoctest"})


def docstring_readers(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Must-run: which docstrings a test reads is decided while it runs."""
    changed = next((fact for fact in file.facts if fact.effect is Effect.DOCUMENTATION), None)
    if changed is None:
        return
    for test_file in catalog.files.values():
        for test in test_file.tests:
            said = (test.words, *(helper.words for helper in test.helpers))
            reading = sorted(word for word in _READING if any(word in words for words in said))
            if reading:
                evidence = f"reads docstrings ({reading[0]}), and {file.path} changes {changed.symbol or 'its own'}'s"
                yield link(test, "docstring", evidence, 1.0, must_run=True)
