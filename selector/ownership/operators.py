"""The rules for operators: what a kernel, a schema, a formula or a Python implementation of one leads to.

Stage 1 says which operators a file is about; here they meet the tests that are generated for every operator and those
that say one by name.
"""

from __future__ import annotations

from collections.abc import Iterator

from selector.catalog import Catalog, CatalogTest
from selector.change import Category, FileChange
from selector.change.classify import is_test_file
from selector.change.symbols import is_private
from selector.ownership.kinds import HARMLESS
from selector.ownership.links import Link, link, too_common

#: A change of more operators than this is about all of them.
_MAX_OPERATORS = 300


def operator_driven(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests that `@ops` or `@modules` generate from upstream's databases, when a changed public name or the operator of
    a changed kernel, schema or formula is in them. A tree without databases takes them from elsewhere, so any name may
    be in them."""
    names = list(changed_operators(file))
    if file.category is Category.PYTHON_SOURCE:
        names += [reached.name for reached in file.reached if not is_private(reached.name)]
    known = [name for name in names if catalog.operators is None or not _spellings(name).isdisjoint(catalog.operators)]
    if not known:
        return
    evidence = (
        f"generated from the operator database, which {'may have' if catalog.operators is None else 'has'} {known[0]}"
    )
    for test in catalog:
        if test.decorators & {"ops", "modules"}:
            yield link(test, "operator database", evidence, 0.75)


def naming_operators(file: FileChange, catalog: Catalog) -> Iterator[Link]:
    """Tests that say the name of an operator whose kernel, schema or formula changed. A name that many tests say is
    weak."""
    operators = changed_operators(file)
    if not operators or is_test_file(file.path):
        return
    spelt = {name: operator for operator in operators for name in _spellings(operator)}
    said_in = [it for path, it in catalog.files.items() if not spelt.keys().isdisjoint(catalog.says[path])]
    hits = [(test, name) for it in said_in for test in it.tests if (name := _said(test, spelt))]
    counts: dict[str, int] = {}
    for _, name in hits:
        counts[name] = counts.get(name, 0) + 1
    for test, name in hits:
        common = too_common(counts[name], catalog)
        evidence = f"says {name}, the operator {spelt[name]} of {file.path}"
        yield link(test, "operator mention", evidence, 0.25 if common else 0.6)


def changed_operators(file: FileChange) -> tuple[str, ...]:
    """The operators that the facts of a file are about, without those that no test of ours can notice."""
    named = dict.fromkeys(fact.op for fact in file.facts if fact.op and fact.effect not in HARMLESS)
    return tuple(named)[:_MAX_OPERATORS]


def _spellings(operator: str) -> frozenset[str]:
    """`linalg_norm`, `linalg.norm` and its last part are one operator; the last part of an overload is none."""
    dotted = operator.replace("_", ".", 1) if "." not in operator else operator
    parts = (dotted.rpartition(".")[2],) if "." in operator else ()
    return frozenset({operator, dotted, operator.replace(".", "_"), *parts})


def _said(test: CatalogTest, spelt: dict[str, str]) -> str:
    """The first name in order of the alphabet that a test says, itself or through a helper; empty for none."""
    said = spelt.keys() & test.words
    for helper in test.helpers:
        if said:
            break
        said = spelt.keys() & helper.words
    return min(said, default="")
