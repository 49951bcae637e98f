"""Rules that need upstream's sources: names, classes, files and operators that are no longer there.

Which names are stale is found by `selector.manifests.comparing.staleness`; here it becomes findings by rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from selector.catalog import build_catalog
from selector.manifests.comparing.staleness import Staleness, stale
from selector.manifests.findings import Finding, Severity, did_you_mean
from selector.manifests.lint.checked import Checked
from selector.manifests.oddities import GLOBAL
from selector.manifests.rulebook import RULES
from selector.trees import SourceTree

_RULE_OF = {
    Staleness.DEAD_NAME: "dead-name",
    Staleness.VARIANT_NAME: "generated-name",
    Staleness.MOVED_CLASS: "moved-class",
    Staleness.MOVED_FILE: "moved-file",
    Staleness.REMOVED_FILE: "removed-file",
}
_DATABASE = "torch/testing/_internal/"


def against(manifests: Sequence[Checked], upstream: SourceTree) -> Iterator[Finding]:
    """Every finding about names and operators that the tree does not have."""
    for found in stale([checked.document for checked in manifests], upstream):
        if rule := _RULE_OF.get(found.kind):
            message = f"{found.message}; {found.edit}" if found.edit else found.message
            yield Finding(found.manifest, found.line, found.column, Severity.WARNING, message, RULES[rule].id)
    operators = build_catalog(_Database(upstream)).operators
    if operators is not None:
        for checked in manifests:
            yield from _unknown_operators(checked, operators)


def _unknown_operators(checked: Checked, operators: frozenset[str]) -> Iterator[Finding]:
    path = (*GLOBAL, "supported_ops")
    supported = checked.suite.global_.supported_ops or ()
    unknown = [index for index, op in enumerate(supported) if op.name not in operators]
    for index in unknown:
        name = supported[index].name
        message = f"upstream's database has no operator `{name}`{did_you_mean(name, operators)}"
        yield checked.report("unknown-operator", (*path, index), message)
    if supported and len(unknown) == len(supported):
        message = "upstream has none of these operators, so the list is not applied and every operator runs"
        yield checked.report("allow-list-empties", path, message)


class _Database:
    """The part of a tree that names operators: reading the rest for them would take seconds."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree

    def read(self, path: str) -> str | None:
        return self._tree.read(path)

    def paths(self) -> Sequence[str]:
        return [path for path in self._tree.paths() if path.startswith(_DATABASE)]
