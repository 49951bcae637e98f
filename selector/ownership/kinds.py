"""Edges between kinds of changes and kinds of test files: a derivative and the tests that check gradients, a module and
those that run every module.

They hold for what a change is, not for what it says. Each is one observation with the changed file that caused it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from selector.catalog import Catalog, TestFile
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Status

_WALKS = frozenset({"walk_packages", "iter_modules"})
_DIFFERENTIATES = frozenset({"gradcheck", "gradgradcheck"})
_DERIVATIVE_FILES = re.compile(r"(tools/autograd|torchgen/packaged/autograd|torch/csrc/autograd)/")
_OPERATOR_FILES = re.compile(
    r"aten/src/ATen/native/|torch/(_refs|_decomp|_prims)/|torch/(_meta_registrations|nn/functional)\.py"
    r"|torch/testing/_internal/(common_methods_invocations|opinfo/)|tools/autograd/derivatives\.yaml"
)
_MODULE_FILES = re.compile(r"torch/nn/(modules/\w+|functional)\.py|torch/testing/_internal/common_modules\.py")
_OPTIMIZER_FILES = re.compile(r"torch/optim/\w+\.py|torch/testing/_internal/common_optimizers\.py")
_OPERATOR_FACTS = frozenset({FactKind.KERNEL, FactKind.NATIVE_FUNCTION, FactKind.OP_INFO, FactKind.SAMPLE_FUNCTION})
#: Effects of facts that no test of ours can see.
HARMLESS = frozenset({Effect.NONE, Effect.OTHER_BACKEND})


@dataclass(frozen=True, slots=True)
class Kind:
    """A reason that holds for a class of changes and a class of test files."""

    change: Callable[[FileChange], bool]
    tests: Callable[[TestFile], bool]
    evidence: str


def of_kind(change: ChangeSet, catalog: Catalog, kind: Kind) -> dict[str, tuple[float, str]]:
    """The test files of a kind with the strength and the evidence, when the change is of the kind too."""
    cause = next((file.path for file in change.files if kind.change(file)), None)
    if cause is None:
        return {}
    seen = (1.0, f"{kind.evidence} {cause}")
    return {path: seen for path, file in catalog.files.items() if kind.tests(file)}


def _says(file: TestFile, names: frozenset[str]) -> bool:
    return any(not names.isdisjoint(words) for words in file.texts())


def _generated_by(decorator: str) -> Callable[[TestFile], bool]:
    return lambda file: any(decorator in test.decorators for test in file.tests)


def _is_source(file: FileChange) -> bool:
    return file.category is Category.PYTHON_SOURCE


def _is_moved(file: FileChange) -> bool:
    return file.status in (Status.ADDED, Status.DELETED, Status.RENAMED)


def _reads_docstrings(file: TestFile) -> bool:
    return any("docstring" in word.lower() for words in file.texts() for word in words)


def _changes(files: re.Pattern[str], facts: Callable[[Fact], bool]) -> Callable[[FileChange], bool]:
    """Whether a file is one of those, or says such a fact of any consequence."""

    def says(file: FileChange) -> bool:
        return any(facts(fact) for fact in file.facts if fact.effect not in HARMLESS)

    return lambda file: files.match(file.path) is not None or says(file)


KINDS: Mapping[str, Kind] = {
    "walks packages": Kind(
        lambda file: _is_source(file) and file.matters and not file.only_documents,
        lambda file: _says(file, _WALKS),
        "looks at every module, and so at",
    ),
    "walks new modules": Kind(
        lambda file: _is_source(file) and _is_moved(file), lambda file: _says(file, _WALKS), "finds the modules, as"
    ),
    "reads docstrings": Kind(
        lambda file: _is_source(file) and file.only_documents, _reads_docstrings, "reads docstrings, as those of"
    ),
    "gradient tests": Kind(
        _changes(_DERIVATIVE_FILES, lambda fact: fact.kind is FactKind.DERIVATIVE or fact.effect is Effect.GRADIENT),
        lambda file: _says(file, _DIFFERENTIATES),
        "checks gradients, which come from",
    ),
    "operator tests": Kind(
        _changes(_OPERATOR_FILES, lambda fact: fact.kind in _OPERATOR_FACTS and fact.op != ""),
        _generated_by("ops"),
        "runs every operator, and so those of",
    ),
    "module tests": Kind(
        _changes(_MODULE_FILES, lambda fact: fact.kind is FactKind.MODULE_INFO),
        _generated_by("modules"),
        "runs every module, and so those of",
    ),
    "optimizer tests": Kind(
        _changes(_OPTIMIZER_FILES, lambda fact: fact.kind is FactKind.OPTIM_INFO),
        _generated_by("optims"),
        "runs every optimizer, and so those of",
    ),
}
