"""When a selection would be unsafe: the reasons to take every test instead.

Widening is the answer to not knowing. It is decided on facts of stages 1 and 2 alone, never by a model.
"""

from __future__ import annotations

from collections.abc import Iterable

from selector.catalog import Catalog
from selector.change import Category, ChangeSet, FileChange, Status
from selector.change.classify import is_test_file
from selector.ownership.links import EVIDENCE_CAP
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


def widening_reasons(change: ChangeSet, unlinked: Iterable[FileChange]) -> tuple[str, ...]:
    """Why every test has to be considered, in the order of the diff; empty when the selection is safe.

    `unlinked` are the changed files no rule of stage 2 tied to any test.
    """
    reasons = [f"the diff cannot be read: {change.unreadable}"] if change.unreadable else []
    if len(change.relevant) > MAX_FILES:
        reasons.append(f"{len(change.relevant)} files matter, more than {MAX_FILES}")
    for file in change.relevant:
        if file.only_documents:
            continue
        if file.category in _UNMAPPED:
            reasons.append(f"{file.path}: {_UNMAPPED[file.category]}")
        elif file.doubt is not None and not is_test_file(file.path):
            reasons.append(f"{file.path}: {file.doubt}")
    reasons += [f"{file.path}: no test is linked to it" for file in unlinked if _needs_a_link(file)]
    return tuple(reasons)


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
