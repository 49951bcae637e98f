"""The outline of a manifest: as much of its shape as the framework relies on before it checks anything.

Merging works on this (`oot-manifests.md` 1.11); whether a manifest is valid is the business of `check.py`.
"""

from __future__ import annotations

from typing import Any, cast

from selector.manifests.document import ManifestDocument, Path, Placed, read_document
from selector.manifests.findings import ManifestError, Severity, shown
from selector.manifests.oddities import FILES

SUITE = "test_suite_config"

_WANTED: dict[type[object], str] = {dict: "a mapping", list: "a list", str: "text"}


def read_outline(document: ManifestDocument) -> Placed:
    """A manifest in which these are there and of their kind: the root, `files`, `labels`, `global` and `models`, every
    block with its `path` and its `tests` (empty for null), and every entry with its `names`. Raises ManifestError.
    """
    placed, findings = read_document(document)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise ManifestError(findings)
    _expect(placed, (), dict)
    _expect(placed, (SUITE,), dict)
    suite = cast("dict[str, Any]", placed.data)[SUITE]
    for key, kind in (("files", list), ("global", dict), ("labels", list), ("models", list)):
        if key in suite or key == "files":
            _expect(placed, (SUITE, key), kind)
    for index, block in enumerate(suite["files"]):
        _expect(placed, (*FILES, index), dict)
        _expect(placed, (*FILES, index, "path"), str)
        if block.get("tests") is None:  # the merge tolerates what a load does not
            block["tests"] = []
        _expect(placed, (*FILES, index, "tests"), list)
        for number in range(len(block["tests"])):
            _expect(placed, (*FILES, index, "tests", number), dict)
            _expect(placed, (*FILES, index, "tests", number, "names"), (list, str))
    return placed


def _expect(placed: Placed, path: Path, kind: type[object] | tuple[type[object], ...]) -> None:
    value: Any = placed.data
    for part in path:
        known = part in value if isinstance(value, dict) else True
        if not known:
            raise ManifestError([placed.finding(placed.place(path), f"the key `{part}` is missing")])
        value = value[part]
    if not isinstance(value, kind):
        first = kind if isinstance(kind, type) else kind[0]
        subject = f"`{path[-1]}`" if path and isinstance(path[-1], str) else "this" if path else "the manifest"
        raise ManifestError(
            [placed.finding(placed.place(path), f"{subject} must be {_WANTED[first]}, not {shown(value)}")]
        )
