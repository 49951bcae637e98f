"""How often the selector puts a test that a real change broke among the first few files, and into a share of the time.

    python -m tests.benchmarks.selection --history GIT_DIR --cases FILE [--times FILE] [--td TREE] [--json OUT]

GIT_DIR is a bare PyTorch repository that holds the breaking commits. Every case of tiers A and A2 is replayed from the
tree at its commit with the history before it only; our figures are those of models that have not seen the case (5-fold
over time, and once learned from the first part of the time and tried on the rest). `--times` is upstream's
`stats/test-times.json` (`selection_seconds`), `--td` a PyTorch tree whose target determination is run as well. A first
run reads all trees and takes five to ten minutes for 60 cases; later ones take a minute, as long as the selector's code
stays the same. `--examples` writes what `selector.ownership.training` learns the shipped weights from.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from selector.catalog import CatalogFile, build_catalog
from selector.history import CommitStore
from selector.ownership.training import Example, cross_validated
from selector.trees import DirectoryTree
from tests.benchmarks.selection_cases import Case, Replay, Replays, read_cases
from tests.benchmarks.selection_rankings import OURS, TD, Found, broken_files, places_of, probabilities_of, rankings_of
from tests.benchmarks.selection_rankings import target_determination as ranked_by_upstream
from tests.benchmarks.selection_report import (
    Places,
    report_files,
    report_latency,
    report_misses,
    report_seconds,
    report_split,
)
from tests.benchmarks.selection_seconds import FileTimes
from tests.benchmarks.target_determination import TargetDetermination

FOLDS = 5
_COLD_CASES = 2
_CATALOG_BYTES = 1 << 30


def main() -> int:
    """Replay, rank, print."""
    wanted = _arguments()
    times = FileTimes(wanted.times) if wanted.times is not None else None
    cases = read_cases(wanted.cases)[: wanted.limit]
    wanted.work.mkdir(parents=True, exist_ok=True)
    catalogs = CatalogFile(wanted.work / "catalogs", _warn, limit=_CATALOG_BYTES)
    with CommitStore(wanted.work / "history.sqlite") as store:
        replays = Replays(wanted.history, wanted.work, store, catalogs)
        found = [(case, _shown(replays.of(case), case)) for case in cases]
        cold = [replays.fresh(case, None).seconds for case in cases[: wanted.cold]]
        warm = [replays.fresh(case, catalogs).seconds for case in cases[: wanted.warm]]
        large = _seconds_on(wanted.td, replays, cases[: wanted.warm], catalogs) if wanted.td is not None else []
    examples = [_example(case, replay) for case, replay in found]
    if wanted.examples is not None:
        wanted.examples.write_text("".join(json.dumps(_document(one)) + "\n" for one in examples), encoding="utf-8")
    models = cross_validated(examples, FOLDS, history=True)
    rankings = rankings_of(found, models)
    if wanted.td is not None:
        rankings[TD] = ranked_by_upstream(found, TargetDetermination(wanted.td), wanted.work)
    places = places_of(found, rankings)
    report_files(found, places)
    if times is not None:
        report_seconds(found, {**rankings, OURS: probabilities_of(found, models)}, times)
    report_split(found, examples)
    report_misses(found, places[OURS], models)
    report_latency("cold", cold)
    report_latency("warm", warm)
    report_latency(f"warm, on the tests of {wanted.td}", large[1:])
    report_latency(f"cold, on the tests of {wanted.td}", large[:1])
    if wanted.json is not None:
        wanted.json.write_text(json.dumps(_figures(found, places), indent=1) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.selection", description="replay breaking changes")
    parser.add_argument("--history", type=Path, required=True, help="a bare PyTorch repository")
    parser.add_argument("--cases", type=Path, required=True, help="JSON lines of breaking changes")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as well")
    parser.add_argument("--limit", type=int, help="only the first N cases")
    parser.add_argument("--examples", type=Path, help="write what the weights are learned from")
    parser.add_argument("--times", type=Path, metavar="FILE", help="upstream's test-times.json")
    parser.add_argument("--td", type=Path, metavar="TREE", help="a PyTorch tree whose target determination is run too")
    parser.add_argument("--cold", type=int, default=_COLD_CASES, help="cases timed with nothing kept (default 2)")
    parser.add_argument("--warm", type=int, default=2 * _COLD_CASES, help="cases timed with all kept (default 4)")
    default = Path(tempfile.gettempdir()) / "selection-benchmark"
    parser.add_argument("--work", type=Path, default=default, help=f"keeps what was read (default {default})")
    return parser.parse_args()


def _seconds_on(folder: Path, replays: Replays, cases: Sequence[Case], catalogs: CatalogFile) -> list[float]:
    """Seconds of selections from the tests of a whole tree: the first with nothing kept, the others with all of it."""
    tree = DirectoryTree(folder)
    cold = [replays.seconds_on(case, tree, None) for case in cases[:1]]
    build_catalog(tree, catalogs)
    return cold + [replays.seconds_on(case, tree, catalogs) for case in cases]


def _shown(replay: Replay, case: Case) -> Replay:
    _note(f"{case.name}: {len(replay.files)} files, {replay.seconds:.1f} s")
    return replay


def _example(case: Case, replay: Replay) -> Example:
    return Example(case.name, case.date, frozenset(broken_files(case, replay)), replay.files)


def _document(example: Example) -> Mapping[str, object]:
    return {"name": example.name, "date": example.date, "broke": sorted(example.broke), "files": example.files}


def _figures(found: Found, places: Places) -> Mapping[str, object]:
    return {
        case.name: {
            "files": len(replay.files),
            "seconds": replay.seconds,
            "rank": {name: own[case.name].rank for name, own in places.items()},
        }
        for case, replay in found
    }


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")


def _warn(text: str) -> None:
    _note(f"catalogs: {text}")


if __name__ == "__main__":
    sys.exit(main())
