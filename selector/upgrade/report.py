"""The whole report about an upgrade: both trees are compared, and what differs is judged for a device.

Only the order of the parts is here.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from selector.catalog import CatalogCache
from selector.manifests import ManifestSet
from selector.trees import SourceTree
from selector.upgrade.assessing.judging import judge
from selector.upgrade.assessing.side import Side
from selector.upgrade.comparing.classify import compare_and_index
from selector.upgrade.comparing.following import FollowedTree
from selector.upgrade.operators.differences import compare_tables
from selector.upgrade.operators.reading import read_operators
from selector.upgrade.types import UpgradeReport


def build_report(
    base: SourceTree,
    head: SourceTree,
    *,
    base_name: str,
    head_name: str,
    device: str,
    manifests: ManifestSet | None = None,
    cache: CatalogCache | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> UpgradeReport:
    """Compare two trees and judge what differs. The names are what people call the trees; `device` is the word in
    generated names. Without manifests every test counts as required.

    Two releases of PyTorch take a minute, a few seconds with a `cache` that knows their files. Raises `TreeError` for a
    tree that cannot be read.
    """
    start = clock()
    trees = FollowedTree(base), FollowedTree(head)
    difference, catalogs = compare_and_index(*trees, cache)
    before, after = (
        Side(tree, catalog, read_operators(tree, cache)) for tree, catalog in zip(trees, catalogs, strict=True)
    )
    operators = compare_tables(before.operators, after.operators)
    judged = judge(difference, operators, before, after, manifests=manifests, device=device)
    return UpgradeReport(
        base_name,
        head_name,
        device,
        difference,
        operators,
        judged.findings,
        judged.funnel,
        judged.variants,
        notes=(*judged.notes, *difference.notes, *operators.notes),
        seconds=clock() - start,
    )
