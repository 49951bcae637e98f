"""How long a selection takes, and how much it leaves out: `python -m tests.benchmarks.bench_selection`.

Without arguments on the demo's repository (the Python files of the installed torch, four test files); with `--repo`,
`--base` and `--head` on any PyTorch checkout or mirror; with `--tree` the catalog of a folder alone. Cold: nothing was
read before. Warm: the catalog's file holds the tree before the change, as on a worker that has selected for the one
before. Seconds are those of the clock, and of the processor in brackets, which do not count what else the machine does.
The figures to compare between machines are the ratios: selected to all tests, and the catalog to the whole.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from relay.cli.manifests.folder import read_manifests
from relay.demo.repository import UpstreamChange, existing_change, prepare_demo_repository
from selector.catalog import Catalog, CatalogCache, CatalogFile, build_catalog
from selector.pipeline import Outcome, select
from selector.trees import DirectoryTree, GitTree, SourceTree, git_diff

MANIFESTS = Path(__file__).parents[2] / "test_manifests"


def main() -> int:
    """Print one figure a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", type=Path, help="a PyTorch checkout; the demo's repository if left out")
    parser.add_argument("--tree", type=Path, help="a folder with a PyTorch tree: its catalog alone is measured")
    parser.add_argument("--base", default="HEAD~1")
    parser.add_argument("--head", default="HEAD")
    parser.add_argument("--runs", type=int, default=5)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        if wanted.tree:
            _report_tree(wanted.tree, work, wanted.runs)
        else:
            _report_change(_change(wanted, work), work, wanted.runs)
    return 0


def _change(wanted: argparse.Namespace, work: Path) -> UpstreamChange:
    if wanted.repo:
        return existing_change(wanted.repo, wanted.base, wanted.head)
    return prepare_demo_repository(work / "upstream")


@dataclass
class Times:
    """The seconds of some runs, by the clock and of this process."""

    clock: list[float] = field(default_factory=list)
    process: list[float] = field(default_factory=list)

    def run(self, work: Callable[[CatalogCache], object], cache: CatalogCache) -> None:
        began, used = time.perf_counter(), time.process_time()
        work(cache)
        self.clock.append(time.perf_counter() - began)
        self.process.append(time.process_time() - used)

    def __str__(self) -> str:
        return (
            f"p50 {_share(self.clock, 50):.2f} s ({_share(self.process, 50):.2f}), "
            f"p95 {_share(self.clock, 95):.2f} s ({_share(self.process, 95):.2f})"
        )


class KeptCatalog:
    """A catalog file that each run finds as it was when it was `prepared`."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "catalog"
        self._prepared: bytes | None = None

    def prepare(self, tree: SourceTree) -> None:
        build_catalog(tree, self.cache())
        self._prepared = self._path.read_bytes()

    def cache(self) -> CatalogCache:
        if self._prepared is None:
            self._path.unlink(missing_ok=True)
        else:
            self._path.write_bytes(self._prepared)
        return CatalogFile(self._path, lambda note: _say("note", note))

    @property
    def size(self) -> int:
        return len(self._prepared or b"")


def _report_tree(folder: Path, work: Path, runs: int) -> None:
    tree = DirectoryTree(folder)
    kept = KeptCatalog(work)
    cold = _measured(runs, kept, lambda cache: build_catalog(tree, cache))
    kept.prepare(tree)
    warm = _measured(runs, kept, lambda cache: build_catalog(tree, cache))
    catalog = build_catalog(tree)
    _say("test files", str(len(catalog.files)))
    _say("base tests", str(catalog.size))
    _say("catalog, cold", str(cold))
    _say("catalog, warm", str(warm))
    _say("catalog file", f"{kept.size / 1e6:.1f} MB")


def _report_change(change: UpstreamChange, work: Path, runs: int) -> None:
    manifests = read_manifests(MANIFESTS)

    def whole(cache: CatalogCache) -> Outcome:
        diff = git_diff(change.repository, change.base_sha, change.head_sha)
        with GitTree(change.repository, change.base_sha) as base, GitTree(change.repository, change.head_sha) as head:
            return select(
                *(diff, base, head),
                title=change.title,
                body=change.body,
                llm=None,
                manifests=manifests,
                cache=cache,
            )

    def catalog_only(cache: CatalogCache) -> Catalog:
        with GitTree(change.repository, change.head_sha) as head:
            return build_catalog(head, cache)

    kept = KeptCatalog(work)
    for state in ("cold", "warm"):
        if state == "warm":
            with GitTree(change.repository, change.base_sha) as before:
                kept.prepare(before)
        selection, catalog = _measured(runs, kept, whole), _measured(runs, kept, catalog_only)
        _say(f"selection, {state}", str(selection))
        _say(f"catalog, {state}", str(catalog))
        _say("  its share", f"{_share(catalog.process, 50) / _share(selection.process, 50):.0%} of the processor time")
    _say("catalog file", f"{kept.size / 1e6:.1f} MB")
    _report_outcome(whole(kept.cache()))


def _report_outcome(outcome: Outcome) -> None:
    kept, size = len(outcome.selection.kept), outcome.catalog.size if outcome.catalog else 0
    _say("base tests", str(size))
    _say("selected", f"{kept} ({kept / max(size, 1):.1%} of all), {outcome.selection.state}")
    for step in outcome.selection.funnel:
        _say(f"  stage {step.stage.value} {step.unit}", f"{step.entered} -> {step.left}")


def _measured(runs: int, kept: KeptCatalog, work: Callable[[CatalogCache], object]) -> Times:
    """The times of some runs after one that warms the system's file cache, each from the same catalog file."""
    times = Times()
    work(kept.cache())
    for _ in range(runs):
        times.run(work, kept.cache())
    return times


def _share(seconds: list[float], percent: int) -> float:
    """A percentile of few values: the smallest one that so many percent do not exceed."""
    ordered = sorted(seconds)
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)]


def _say(what: str, figure: str) -> None:
    sys.stdout.write(f"{what:28} {figure}\n")


if __name__ == "__main__":
    sys.exit(main())
