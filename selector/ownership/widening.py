"""When a selection would be unsafe: the reasons to take every test instead.

Widening is the answer to not knowing. It is decided on facts of stages 1 and 2 alone, never by a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from selector.catalog import Catalog
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Status
from selector.change.classify import is_test_file
from selector.ownership.links import EVIDENCE_CAP
from selector.ownership.operators import operator_driven
from selector.types import BaseTest, Candidate, Reason, Stage

#: More relevant files than this are an upgrade rather than a change.
MAX_FILES = 300

_UNMAPPED = {
    Category.TEST_HARNESS: "every test runs on the test harness",
    Category.NATIVE: "native code is not mapped to tests",
    Category.CODEGEN: "generated code is not mapped to tests",
    Category.BUILD: "the build affects every test",
    Category.SUBMODULE: "a dependency's changes are not seen here",
    Category.UNCLASSIFIED: "unknown kind of file",
}


#: Facts about operators, which lead to the tests that are generated for each.
_OF_OPERATORS = frozenset(
    {
        FactKind.DERIVATIVE,
        FactKind.KERNEL,
        FactKind.NATIVE_FUNCTION,
        FactKind.OP_INFO,
        FactKind.REGISTRATION,
        FactKind.SAMPLE_FUNCTION,
    }
)
_BY_OPERATOR = frozenset({Effect.BEHAVIOUR, Effect.DTYPES, Effect.EXPECTATION, Effect.GRADIENT, Effect.SAMPLES})
_WITHOUT_EFFECT = frozenset({Effect.NONE, Effect.OTHER_BACKEND, Effect.DOCUMENTATION})
#: Files of these categories may be understood by their facts; of the others no fact says enough.
_JUDGED = frozenset({Category.CODEGEN, Category.NATIVE, Category.TEST_HARNESS})


def widening_reasons(
    change: ChangeSet, unlinked: Iterable[FileChange], catalog: Catalog | None = None
) -> tuple[str, ...]:
    """Why every test has to be considered, in the order of the diff; empty when the selection is safe.

    `unlinked` are the changed files no rule of stage 2 tied to any test. With the `catalog`, native code, lists of
    operators and the harness are safe where their facts name all operators that they are about and all of these have
    generated tests.
    """
    reasons = [f"the diff cannot be read: {change.unreadable}"] if change.unreadable else []
    if len(change.relevant) > MAX_FILES:
        reasons.append(f"{len(change.relevant)} files matter, more than {MAX_FILES}")
    for file in change.relevant:
        if file.only_documents:
            continue
        if file.category in _UNMAPPED:
            why = _not_understood(file, catalog)
            reasons += [f"{file.path}: {_UNMAPPED[file.category]}{why}"] if why is not None else []
        elif file.doubt is not None and not is_test_file(file.path):
            reasons.append(f"{file.path}: {file.doubt}")
    reasons += [f"{file.path}: no test is linked to it" for file in unlinked if _needs_a_link(file)]
    return tuple(reasons)


def _not_understood(file: FileChange, catalog: Catalog | None) -> str | None:
    """The first fact that names no tests, for people, empty when there is none to name; `None` when all of them do."""
    if catalog is None or file.category not in _JUDGED or not file.facts or file.doubt is not None:
        return ""
    if file.old_path not in (None, file.path):
        return " (moved)"
    facts = [fact for fact in file.facts if fact.effect not in _WITHOUT_EFFECT]
    fact = next((fact for fact in facts if not _is_understood(fact, file, catalog)), None)
    if fact is not None:
        about = f"{fact.symbol}: {fact.evidence}" if fact.symbol else fact.evidence
        return f" ({about[:EVIDENCE_CAP]})"
    # what nothing used before needs no test; includes alone do, and nobody knows which
    needs = any(fact.effect is not Effect.NEW for fact in facts)
    return " (no operator is named)" if needs and not any(fact.op for fact in facts) else None


def _is_understood(fact: Fact, file: FileChange, catalog: Catalog) -> bool:
    if fact.effect is Effect.NEW:
        return True
    if fact.effect is Effect.ANNOTATIONS:
        return file.category is Category.TEST_HARNESS
    if fact.kind is FactKind.INCLUDE:
        return True
    if fact.kind not in _OF_OPERATORS or fact.effect not in _BY_OPERATOR or fact.partial or not fact.op:
        return False
    return catalog.operators is not None and any(operator_driven(replace(file, facts=(fact,)), catalog))


def _needs_a_link(file: FileChange) -> bool:
    """A new file matters through what uses it, and removed tests need no test; everything else must lead somewhere."""
    if file.category in _UNMAPPED or file.doubt is not None or file.only_documents:
        return False  # has its own reason already
    return file.status is not Status.ADDED and not is_test_file(file.path)


def widen(catalog: Catalog, candidates: Iterable[Candidate], reasons: tuple[str, ...]) -> tuple[Candidate, ...]:
    """Every test of the catalog as a candidate, those that stage 2 found with what it found."""
    found = {candidate.test: candidate for candidate in candidates}
    reason = Reason(Stage.OWNERSHIP, "widened", _summary(reasons))
    every: dict[BaseTest, None] = dict.fromkeys(test.test for test in catalog)
    return tuple(found.get(test, Candidate(test)).because(reason) for test in every)


def _summary(reasons: tuple[str, ...]) -> str:
    first = reasons[0][:EVIDENCE_CAP]
    return first if len(reasons) == 1 else f"{first} (and {len(reasons) - 1} more)"
