"""Facts about one changed Python file, from what `selector.change.symbols` found to differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from selector.change.classify import is_test_file
from selector.change.facts import Category, Effect, Fact, FactKind
from selector.change.opinfo import compare_entries, without_entries
from selector.change.python_text import PythonText
from selector.change.samples import Samples
from selector.change.symbols import Aspect, Changed, Difference, bound_names
from selector.change.text_changes import changed_text
from selector.source import last_part

_EFFECTS = {
    Aspect.ANNOTATIONS: Effect.ANNOTATIONS,
    Aspect.DECORATION: Effect.DECORATION,
    Aspect.TEXT: Effect.TEXT,
}
_TEST_EFFECTS = {Aspect.ADDED: Effect.NEW_TEST, Aspect.REMOVED: Effect.REMOVED_TEST}


@dataclass(frozen=True, slots=True)
class PythonFile:
    """Both texts of a changed file, empty where it does not exist, and what of them differs."""

    path: str
    category: Category
    base: PythonText
    head: PythonText
    difference: Difference


def python_facts(file: PythonFile, samples: Samples) -> Iterator[Fact]:
    """Facts in the order of the symbols' names, then those about entries, that about the module as a whole last."""
    before, after = samples.entries(file.path, file.base), samples.entries(file.path, file.head)
    listed, rest = frozenset[str](), (*file.difference.statements[1], *file.difference.statements[0])
    if before or after:
        listed, rest = _lists_of_entries(file.difference)
    for change in file.difference.changed:
        if change.symbol in listed:
            continue
        if file.category is Category.TEST_HARNESS:
            yield from _harness_facts(file, change, samples)
        else:
            yield _symbol_fact(file, change)
    yield from compare_entries(file.path, before, after)
    loose = [node for node in rest if not set(bound_names(node)).intersection(file.difference.symbols)]
    if loose or file.difference.reordered:
        yield _module_fact(file, loose)


def _symbol_fact(file: PythonFile, change: Changed) -> Fact:
    """A definition or a name; in a test file a test."""
    kind, effect, evidence = _kind(change), _EFFECTS.get(change.aspect, Effect.BEHAVIOUR), change.aspect.value
    if change.aspect is Aspect.TEXT:
        kind, evidence = FactKind.GOLDEN_TEXT, changed_text(change.before, change.after)
    if is_test_file(file.path) and _holds_tests(change):
        kind = FactKind.TEST if kind is not FactKind.GOLDEN_TEXT else kind
        effect = _TEST_EFFECTS.get(change.aspect, Effect.EDITED_TEST)
    return Fact(file.path, kind, change.symbol, "", effect, change.line, evidence)


def _kind(change: Changed) -> FactKind:
    node = (change.after or change.before)[0]
    if isinstance(node, ast.ClassDef):
        return FactKind.CLASS
    return FactKind.FUNCTION if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else FactKind.NAME


def _holds_tests(change: Changed) -> bool:
    """A test method, or a whole class of them."""
    if last_part(change.symbol).startswith("test"):
        return True
    return _kind(change) is FactKind.CLASS and last_part(change.symbol).startswith("Test")


def _module_fact(file: PythonFile, nodes: Sequence[ast.stmt]) -> Fact:
    imports = (
        bool(nodes)
        and not file.difference.reordered
        and all(isinstance(node, (ast.Import, ast.ImportFrom)) for node in nodes)
    )
    evidence = "imports" if imports else "statements outside every definition, or their order"
    harness = file.category is Category.TEST_HARNESS
    kind, effect = (FactKind.HARNESS, Effect.EVERYTHING) if harness else (FactKind.MODULE, Effect.BEHAVIOUR)
    return Fact(file.path, kind, "", "", effect, nodes[0].lineno if nodes else 0, evidence)


def _lists_of_entries(difference: Difference) -> tuple[frozenset[str], tuple[ast.stmt, ...]]:
    """Names whose statements agree once the entries are taken out of them, and the statements that do not agree."""
    before, after = ([(ast.dump(without_entries(node)), node) for node in side] for side in difference.statements)
    agreeing = {digest for digest, _ in before} & {digest for digest, _ in after}
    rest = tuple(node for digest, node in (*after, *before) if digest not in agreeing)
    names = {name for digest, node in (*after, *before) if digest in agreeing for name in bound_names(node)}
    return frozenset(names) - {name for node in rest for name in bound_names(node)}, rest


def _harness_facts(file: PythonFile, change: Changed, samples: Samples) -> Iterator[Fact]:
    """A sample function is about the operators whose entries use it; anything else of the harness is about all tests,
    but for a new function, which nothing used before."""
    new = change.aspect is Aspect.ADDED and "." not in change.symbol and _kind(change) is FactKind.FUNCTION
    if new or change.aspect is Aspect.ANNOTATIONS:
        fact = _symbol_fact(file, change)
        yield replace(fact, effect=Effect.NEW) if new else fact
        return
    users = (
        samples.users(file.path, change.symbol, (file.base, file.head)) if _kind(change) is FactKind.FUNCTION else ()
    )
    for entry, fields in users:
        evidence = f"{entry.label}: {fields}"
        yield Fact(
            file.path, FactKind.SAMPLE_FUNCTION, change.symbol, entry.name, Effect.SAMPLES, change.line, evidence
        )
    if not users:
        evidence = f"{change.aspect.value}: every test runs on the harness"
        yield Fact(file.path, FactKind.HARNESS, change.symbol, "", Effect.EVERYTHING, change.line, evidence)
