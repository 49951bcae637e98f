"""The rule for whole models: a change of what a model was seen to use of torch leads to its tests.

A model is no file of the tree and says no words, so the other rules, and what is learned from words, are not asked
about it. A link to a model is no link to a test of upstream: a change that no other rule ties to anything is widened as
if there were no models. A model of which nobody recorded what it uses is led to by every change of the library.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from selector.catalog import CatalogTest, Origin, TestFile
from selector.change import Category, FileChange
from selector.change.facts import Effect, FactKind
from selector.manifests import ManifestSet
from selector.manifests.model_rules import ModelRules
from selector.ownership.kinds import HARMLESS
from selector.ownership.links import Link, link
from selector.ownership.modules import module_name
from selector.ownership.observed import operators_of

RULE = "model use"
_CODE = frozenset({Category.CODEGEN, Category.NATIVE, Category.PYTHON_SOURCE})
#: A model is run forward, and on inputs of its own.
_NOT_FORWARD = HARMLESS | {Effect.DOCUMENTATION, Effect.EXPECTATION, Effect.GRADIENT, Effect.SAMPLES}


def model_files(manifests: ManifestSet | None) -> tuple[TestFile, ...]:
    """What stands for the models of the manifests beside the files of a catalog, sorted. `uses` are the operators
    (`aten::mm`) and the dotted names that are on record."""
    models = manifests.models if manifests is not None else {}
    return tuple(_file(models[file]) for file in sorted(models))


def _file(model: ModelRules) -> TestFile:
    tests = tuple(
        CatalogTest(test, frozenset(), frozenset(), Origin(test.file, test.name)) for test in model.check.base_tests()
    )
    uses = frozenset[str]() if model.uses is None else frozenset({*model.uses.operators, *model.uses.names})
    return TestFile(model.check.file, (), frozenset(), uses, tests)


def model_links(changes: Iterable[FileChange], models: Sequence[TestFile]) -> Iterator[Link]:
    """Links to all tests of the models that a change of the library leads to. They must run."""
    for file in changes if models else ():
        if file.category in _CODE and not file.only_documents:
            changed = _Changed(file)
            for model in models:
                if evidence := changed.used_by(model):
                    yield from (link(test, RULE, evidence, 1.0, must_run=True) for test in model.tests)


class _Changed:
    """What a changed file means to a model: operators, and names with their modules."""

    def __init__(self, file: FileChange) -> None:
        self._file = file
        self._operators = dict.fromkeys([*operators_of(file), *_of_facts(file)])
        modules = [module_name(path) for path in file.paths]
        self._modules = tuple(f"{module}." for module in modules) if file.module_level or file.doubt else ()
        self._names = {f"{module}.{one.name}": one.through for module in modules for one in file.reached}

    def used_by(self, model: TestFile) -> str:
        """What of it the model uses, as a sentence; empty for nothing."""
        path = self._file.path
        if not model.uses:
            return f"nothing is on record of what {model.path} uses, and {path} changes"
        known = {_plain(use): use for use in sorted(model.uses, reverse=True) if "::" in use}
        if operator := next((known[plain] for one in self._operators if (plain := _plain(one)) in known), ""):
            return f"runs {operator}, an operator of {path}"
        if name := next((one for one in self._names if one in model.uses), ""):
            through = self._names[name]
            return f"uses {name}{f' ({through})' if not name.endswith(through) else ''}"
        used = min((name for name in model.uses if name.startswith(self._modules)), default="") if self._modules else ""
        return f"uses {used} of {path}, which changes as a whole" if used else ""


def _plain(operator: str) -> str:
    """Without the underscores around its name: `_safe_softmax` is what `safe_softmax` is a decomposition of."""
    space, _, name = operator.partition("::")
    return f"{space}::{name.strip('_')}"


def _of_facts(file: FileChange) -> Iterator[str]:
    """The operators whose kernel, schema or wrapper changed."""
    for fact in file.facts:
        if fact.op and fact.effect not in _NOT_FORWARD and fact.kind is not FactKind.OP_INFO:
            yield f"aten::{fact.op.replace('.', '_')}"
