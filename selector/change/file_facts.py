"""Facts about files that are judged by what they are, not by what is inside: one fact each.

Also the facts of entries of a diff that cannot be looked into. A file nobody understands is a fact of unknown effect,
which widens the selection and names the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from selector.change.backends import backend_of_path
from selector.change.classify import is_among_tests
from selector.change.facts import Category, Effect, Fact, FactKind, FileDelta, Status

_BY_CATEGORY = {
    Category.BUILD: (FactKind.BUILD, Effect.EVERYTHING, "the build affects every test"),
    Category.CODEGEN: (FactKind.CODEGEN, Effect.EVERYTHING, "generates code that every test runs on"),
    Category.TEST_HARNESS: (FactKind.HARNESS, Effect.EVERYTHING, "every test runs on the harness"),
    Category.SUBMODULE: (FactKind.SUBMODULE, Effect.DEPENDENCY, "another commit of a dependency"),
    Category.DOCS: (FactKind.DOCS, Effect.NONE, "documentation"),
    Category.CI: (FactKind.CI, Effect.NONE, "settings of upstream's continuous integration"),
}
#: Lists of expected failures that have a file, an empty one, for each test.
_LISTED_TEST = re.compile(r"test/(?P<list>\w+_(?:expected_failures|skips))/(?P<test>\w+\.\w+)")
_GOLDEN = re.compile(r"(functorch/)?test/((.*/)?expect/|.*\.(expect|json|csv|txt|snap)$)")


def whole_file(delta: FileDelta, category: Category, doubt: str | None = None) -> Iterator[Fact]:
    """The fact about a file as a whole; before it, that it moved."""
    if delta.old_path is not None:
        yield moved(delta)
    listed = _LISTED_TEST.fullmatch(delta.path)
    if listed:
        yield Fact(delta.path, FactKind.TEST, listed["test"], "", Effect.EXPECTATION, evidence=listed["list"])
    elif doubt is not None:
        yield Fact(delta.path, FactKind.UNKNOWN, effect=Effect.UNKNOWN, evidence=doubt)
    elif category in _BY_CATEGORY:
        kind, effect, evidence = _BY_CATEGORY[category]
        yield Fact(delta.path, kind, effect=effect, evidence=evidence)
    elif _GOLDEN.match(delta.path):
        yield Fact(delta.path, FactKind.GOLDEN_TEXT, effect=Effect.EDITED_TEST, evidence="expected output of tests")
    elif is_among_tests(delta.path):
        yield Fact(delta.path, FactKind.TEST, effect=Effect.EDITED_TEST, evidence="a file that tests use")
    elif backend := backend_of_path(delta.path):
        yield Fact(delta.path, FactKind.KERNEL, effect=Effect.OTHER_BACKEND, evidence=backend)
    elif delta.status is Status.BINARY:
        yield Fact(delta.path, FactKind.BINARY, effect=Effect.UNKNOWN, evidence="binary content")
    else:
        yield Fact(delta.path, FactKind.UNKNOWN, effect=Effect.UNKNOWN, evidence=f"{category.value}: not understood")


def moved(delta: FileDelta) -> Fact:
    """That a file was renamed, or copied from another."""
    return Fact(delta.path, FactKind.RENAME, delta.old_path or "", "", Effect.MOVED, evidence=f"from {delta.old_path}")


def mode_only(delta: FileDelta) -> Fact:
    """That only permissions changed."""
    return Fact(delta.path, FactKind.MODE, effect=Effect.NONE, evidence="permissions only")


def comments_only(path: str) -> Fact:
    """That nothing changed but comments, formatting, and docstrings that nobody reads."""
    return Fact(path, FactKind.COMMENT, effect=Effect.NONE, evidence="comments, docstrings or formatting only")
