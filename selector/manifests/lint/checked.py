"""A manifest that has passed the schema, as the rules see it. Of itself it finds only what a load does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from pydantic import BaseModel

from selector.manifests.check import check
from selector.manifests.document import ManifestDocument, Path, Placed, read_document
from selector.manifests.findings import Finding, Severity
from selector.manifests.model_rules import MODELS
from selector.manifests.model_schema import ModelSpec
from selector.manifests.oddities import FILES
from selector.manifests.precision import Precision
from selector.manifests.rulebook import report
from selector.manifests.schema import Entry, FileBlock, Manifest, SuiteConfig


@dataclass(frozen=True, slots=True)
class Checked:
    """The text, the data with places, and the models of one manifest."""

    document: ManifestDocument
    placed: Placed
    manifest: Manifest

    @property
    def suite(self) -> SuiteConfig:
        return self.manifest.test_suite_config

    def blocks(self) -> Iterator[tuple[Path, FileBlock]]:
        """File blocks with their paths."""
        return (((*FILES, index), block) for index, block in enumerate(self.suite.files))

    def entries(self) -> Iterator[tuple[Path, FileBlock, Entry]]:
        """Entries with their paths, and the block they stand in."""
        for path, block in self.blocks():
            for index, entry in enumerate(block.tests):
                yield (*path, "tests", index), block, entry

    def whole_models(self) -> Iterator[tuple[Path, ModelSpec]]:
        """What the manifest says about whole models, with its paths."""
        return (((*MODELS, index), model) for index, model in enumerate(self.suite.models))

    def value(self, path: Path) -> object:
        """The plain value at a path, as YAML has it; None when there is none."""
        found: Any = self.placed.data
        for part in path:
            if isinstance(found, dict):
                found = found.get(part)
            elif isinstance(found, list) and isinstance(part, int) and part < len(found):
                found = found[part]
            else:
                return None
        return cast(object, found)

    def models(self) -> Iterator[tuple[Path, BaseModel]]:
        """Every model that the text states, with its path in the text."""
        return _models(self, self.manifest, ())

    def precisions(self) -> Iterator[tuple[Path, object]]:
        """Every tolerance that is written down, with its plain value."""
        for path, model in self.models():
            if isinstance(model, Precision):
                yield from (((*path, key), self.value((*path, key))) for key in ("atol", "rtol"))

    def report(self, rule: str, path: Path, message: str) -> Finding:
        return report(self.placed, rule, path, message)


def _models(checked: Checked, model: BaseModel, path: Path) -> Iterator[tuple[Path, BaseModel]]:
    """The model and all models below it, each with its path in the text."""
    yield path, model
    for name in model.model_fields_set:
        key = type(model).model_fields[name].alias or name
        for below, inner in _below(getattr(model, name)):
            # A single mapping is accepted for a list of inputs: then the text has no index.
            written = () if below and isinstance(checked.value((*path, key)), dict) else below
            yield from _models(checked, inner, (*path, key, *written))


def _below(value: object) -> Iterator[tuple[Path, BaseModel]]:
    if isinstance(value, BaseModel):
        yield (), value
    elif isinstance(value, tuple):
        yield from (((index,), item) for index, item in enumerate(value) if isinstance(item, BaseModel))


def examine(document: ManifestDocument) -> tuple[Checked | None, list[Finding]]:
    """What a load finds in one manifest, and the manifest where there is no error among that."""
    placed, findings = read_document(document)
    if any(finding.severity is Severity.ERROR for finding in findings):
        return None, findings
    manifest, more = check(placed)
    return (Checked(document, placed, manifest) if manifest is not None else None), findings + more
