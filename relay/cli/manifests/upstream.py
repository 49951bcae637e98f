"""The upstream tree that manifests are compared with: a folder, or a commit of a checkout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from relay.cli.manifests import text

_TESTS = "test/"

if TYPE_CHECKING:
    from selector.trees import SourceTree


def upstream_tree(upstream: Path, rev: str | None) -> SourceTree:
    """The files of a folder, or those of a commit. Raises NoChange when there is no such folder or commit, and when it
    holds no tests: `--upstream "$TORCH_ROOT"` with the variable unset is the working directory, and everything would
    be stale there.
    """
    from relay.cli.change import NoChange
    from selector.trees import DirectoryTree, GitTree, TreeError

    if not upstream.is_dir():
        raise NoChange(text.no_upstream(str(upstream)), text.no_upstream_hint())
    try:
        tree = DirectoryTree(upstream) if rev is None else GitTree(upstream, rev)
    except TreeError as error:
        raise NoChange(str(error), text.no_upstream_hint()) from error
    if not any(path.startswith(_TESTS) for path in tree.paths()):
        raise NoChange(f"{upstream} is no upstream tree: it has no files in {_TESTS}", text.no_upstream_hint())
    return tree
