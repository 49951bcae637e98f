"""A manifest that has passed the schema, as the rules see it. Holds values; finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from selector.manifests.document import ManifestDocument, Path, Placed
from selector.manifests.findings import Finding
from selector.manifests.oddities import FILES
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

    def report(self, rule: str, path: Path, message: str) -> Finding:
        return report(self.placed, rule, path, message)
