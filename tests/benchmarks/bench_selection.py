"""How long a selection takes, and how much it leaves out: `python -m tests.benchmarks.bench_selection`.

Without arguments on the demo's repository (the Python files of the installed torch, four test files); with `--repo`,
`--base` and `--head` on any PyTorch checkout or mirror. Times are medians of this machine; the figures to compare
between machines are the ratios: selected to all tests, and the catalog to the whole.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from relay.cli.manifests.folder import read_manifests
from relay.demo.repository import UpstreamChange, existing_change, prepare_demo_repository
from selector.catalog import build_catalog
from selector.pipeline import Outcome, select
from selector.trees import GitTree, git_diff

Result = TypeVar("Result")

MANIFESTS = Path(__file__).parents[2] / "test_manifests"


def main() -> int:
    """Print one figure a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, help="a PyTorch checkout; the demo's repository if left out")
    parser.add_argument("--base", default="HEAD~1")
    parser.add_argument("--head", default="HEAD")
    parser.add_argument("--runs", type=int, default=5)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        change = (
            existing_change(wanted.repo, wanted.base, wanted.head)
            if wanted.repo
            else prepare_demo_repository(Path(folder) / "upstream")
        )
        _report(change, wanted.runs)
    return 0


def _report(change: UpstreamChange, runs: int) -> None:
    manifests = read_manifests(MANIFESTS)

    def whole() -> Outcome:
        diff = git_diff(change.repository, change.base_sha, change.head_sha)
        with GitTree(change.repository, change.base_sha) as base, GitTree(change.repository, change.head_sha) as head:
            return select(diff, base, head, title=change.title, body=change.body, llm=None, manifests=manifests)

    def catalog_only() -> int:
        with GitTree(change.repository, change.head_sha) as head:
            return build_catalog(head).size

    seconds, outcome = _median(whole, runs)
    catalog_seconds, size = _median(catalog_only, runs)
    kept = len(outcome.selection.kept)
    _say("selection, median", f"{seconds:.2f} s")
    _say("of which the catalog", f"{catalog_seconds / seconds:.0%}")
    _say("base tests", str(size))
    _say("selected", f"{kept} ({kept / max(size, 1):.1%} of all), {outcome.selection.state}")
    for step in outcome.selection.funnel:
        _say(f"  stage {step.stage.value} {step.unit}", f"{step.entered} -> {step.left}")


def _median(work: Callable[[], Result], runs: int) -> tuple[float, Result]:
    """The median time of some runs after one that warms the file cache, and what the last one gave."""
    result = work()
    times = []
    for _ in range(runs):
        began = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - began)
    return statistics.median(times), result


def _say(what: str, figure: str) -> None:
    sys.stdout.write(f"{what:28} {figure}\n")


if __name__ == "__main__":
    sys.exit(main())
