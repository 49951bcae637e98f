"""How often the selector puts a test that a real change broke among the first few files.

    python -m tests.benchmarks.selection --history GIT_DIR --cases FILE [--json OUT] [--limit N]

GIT_DIR is a bare PyTorch repository that holds the breaking commits. Every case of tiers A and A2 is replayed from the
tree at its commit with the history before it only; our figures are those of models that have not seen the case (5-fold
over time, and once learned from the first part of the time and tried on the rest). A first run reads all trees and
takes five to ten minutes for 60 cases; later ones take a minute, as long as the selector's code stays the same.
`--examples` writes what `selector.ownership.training` learns the shipped weights from.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from selector.catalog import CatalogFile
from selector.history import CommitStore
from selector.ownership.model import Model
from selector.ownership.training import Example, cross_validated, fit
from tests.benchmarks.selection_cases import TIERS, Case, Replay, Replays, read_cases
from tests.benchmarks.selection_figures import (
    SHARES,
    Place,
    difference,
    hit_interval,
    mean_reciprocal,
    misses,
    place,
    quantile,
    random_place,
)
from tests.benchmarks.target_determination import TargetDetermination

FOLDS = 5
#: Cases before this day teach, the others are tried, in the time-ordered split.
SPLIT = "2022-12-01"
OURS = "ours, 5-fold"
OURS_SAFE = "must-run first"
TD = "upstream's TD"
_LEXICAL = ("paths in path", "paths in tests", "code in tests", "description in tests")
_MISSED = 0.10
_COLD_CASES = 2
_CATALOG_BYTES = 1 << 30

Found = Sequence[tuple[Case, Replay]]
Ranking = Mapping[str, Place]


def main() -> int:
    """Replay, rank, print."""
    wanted = _arguments()
    cases = read_cases(wanted.cases)[: wanted.limit]
    wanted.work.mkdir(parents=True, exist_ok=True)
    catalogs = CatalogFile(wanted.work / "catalogs", _warn, limit=_CATALOG_BYTES)
    with CommitStore(wanted.work / "history.sqlite") as store:
        replays = Replays(wanted.history, wanted.work, store, catalogs)
        found = [(case, _shown(replays.of(case), case)) for case in cases]
        cold = [replays.fresh(case, None).seconds for case in cases[: wanted.cold]]
        warm = [replays.fresh(case, catalogs).seconds for case in cases[: wanted.warm]]
    examples = [_example(case, replay) for case, replay in found]
    if wanted.examples is not None:
        wanted.examples.write_text("".join(json.dumps(_document(one)) + "\n" for one in examples), encoding="utf-8")
    models = cross_validated(examples, FOLDS, history=True)
    rankings = _rankings(found, models)
    if wanted.td is not None:
        rankings[TD] = _target_determination(found, TargetDetermination(wanted.td), wanted.work)
    _report(found, rankings)
    _report_split(found, examples)
    _report_misses(found, rankings[OURS], models)
    for name, seconds in (("cold", cold), ("warm", warm)):
        if seconds:
            spread = f"p50 {quantile(seconds, 0.5):.1f}, p95 {quantile(seconds, 0.95):.1f}"
            _say(f"seconds {name}, {len(seconds)} cases: {spread}")
    if wanted.json is not None:
        wanted.json.write_text(json.dumps(_figures(found, rankings), indent=1) + "\n", encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.selection", description="replay breaking changes")
    parser.add_argument("--history", type=Path, required=True, help="a bare PyTorch repository")
    parser.add_argument("--cases", type=Path, required=True, help="JSON lines of breaking changes")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as well")
    parser.add_argument("--limit", type=int, help="only the first N cases")
    parser.add_argument("--examples", type=Path, help="write what the weights are learned from")
    parser.add_argument("--td", type=Path, metavar="TREE", help="a PyTorch tree whose target determination is run too")
    parser.add_argument("--cold", type=int, default=_COLD_CASES, help="cases timed with nothing kept (default 2)")
    parser.add_argument("--warm", type=int, default=2 * _COLD_CASES, help="cases timed with all kept (default 4)")
    default = Path(tempfile.gettempdir()) / "selection-benchmark"
    parser.add_argument("--work", type=Path, default=default, help=f"keeps what was read (default {default})")
    return parser.parse_args()


def _shown(replay: Replay, case: Case) -> Replay:
    _note(f"{case.name}: {len(replay.files)} files, {replay.seconds:.1f} s")
    return replay


def _example(case: Case, replay: Replay) -> Example:
    broke = frozenset(path for path in replay.files if case.broke(path))
    return Example(case.name, case.date, broke, replay.files)


def _document(example: Example) -> Mapping[str, object]:
    return {"name": example.name, "date": example.date, "broke": sorted(example.broke), "files": example.files}


def _rankings(found: Found, models: Mapping[str, Model]) -> dict[str, Ranking]:
    """Each ranking's place for each case, by name."""

    def ranked(scores: Mapping[str, float], case: Case, replay: Replay) -> Place:
        return place(scores, sorted(replay.files), [path for path in replay.files if case.broke(path)])

    def signal(name: str) -> dict[str, Place]:
        return {
            case.name: ranked({path: seen.get(name, 0.0) for path, seen in replay.files.items()}, case, replay)
            for case, replay in found
        }

    def summed(replay: Replay) -> dict[str, float]:
        return {path: sum(seen.get(name, 0.0) for name in _LEXICAL) for path, seen in replay.files.items()}

    def model(case: Case, replay: Replay) -> dict[str, float]:
        return {path: models[case.name].score(seen) for path, seen in replay.files.items()}

    def safe(case: Case, replay: Replay) -> dict[str, float]:
        return {path: score + (path in replay.must_run) for path, score in model(case, replay).items()}

    return {
        "random": {
            case.name: random_place(len(replay.files), sum(case.broke(path) for path in replay.files))
            for case, replay in found
        },
        "edited only": {case.name: ranked(dict.fromkeys(replay.changed, 1.0), case, replay) for case, replay in found},
        "file names": signal("paths in path"),
        "co-change": signal("co-change"),
        "BM25": {case.name: ranked(summed(replay), case, replay) for case, replay in found},
        "rules alone": {case.name: ranked(replay.rules, case, replay) for case, replay in found},
        OURS: {case.name: ranked(model(case, replay), case, replay) for case, replay in found},
        OURS_SAFE: {case.name: ranked(safe(case, replay), case, replay) for case, replay in found},
    }


def _target_determination(found: Found, theirs: TargetDetermination, work: Path) -> Ranking:
    """Upstream's ranking. Takes some seconds a case; answers are kept in `work`."""
    folder = work / "target-determination"
    folder.mkdir(exist_ok=True)
    ranking: dict[str, Place] = {}
    for case, replay in found:
        kept = folder / f"{case.commit}.json"
        if not kept.is_file():
            past = {path: seen.get("co-change", 0.0) for path, seen in replay.files.items()}
            together = {path: math.expm1(value) for path, value in past.items() if value}
            scores = theirs.scores(sorted(replay.files), replay.changed, replay.message, together)
            kept.write_text(json.dumps(scores), encoding="utf-8")
            _note(f"{case.name}: target determination")
        broken = [path for path in replay.files if case.broke(path)]
        ranking[case.name] = place(json.loads(kept.read_text(encoding="utf-8")), sorted(replay.files), broken)
    return ranking


def _report(found: Found, rankings: Mapping[str, Ranking]) -> None:
    for tier in TIERS:
        names = [case.name for case, _ in found if case.tier == tier]
        if not names:
            continue
        _say(f"\ntier {tier}, {len(names)} cases: misses at a share of the files, with the 95 % interval of the hits")
        for name, ranking in rankings.items():
            places = [ranking[case] for case in names]
            cells = [f"{misses(places, share):3} ({_span(hit_interval(places, share))})" for share in SHARES]
            _say(f"  {name:14}" + "  ".join(cells) + f"  MRR {mean_reciprocal(places):.2f}")
        _say("  " + " " * 14 + "  ".join(f"{share:15.0%}" for share in SHARES))
        for other in [name for name in ("BM25", "rules alone", TD) if name in rankings]:
            ours, theirs = ([rankings[one][case] for case in names] for one in (OURS, other))
            for share in SHARES[2:]:
                mean, span = difference(ours, theirs, share)
                _say(f"  {OURS} minus {other} at {share:.0%}: {mean:+.2f} ({_span(span)})")


def _report_split(found: Found, examples: Sequence[Example]) -> None:
    """The figures of one model that was learned before the cases it is tried on."""
    before = [example for example in examples if example.date < SPLIT]
    later = [(case, replay) for case, replay in found if case.date >= SPLIT]
    if not before or not later:
        return
    model = fit(before, history=True)
    ranking = _rankings(later, {case.name: model for case, _ in later})[OURS]
    for tier in TIERS:
        places = [ranking[case.name] for case, _ in later if case.tier == tier]
        if places:
            counts = ", ".join(f"{misses(places, share)} at {share:.0%}" for share in SHARES)
            _say(f"learned before {SPLIT}, tried on {len(places)} later cases of tier {tier}: misses {counts}")


def _report_misses(found: Found, ours: Ranking, models: Mapping[str, Model]) -> None:
    """Each case that is not among the first tenth, with where every signal puts its best broken file."""
    for case, replay in found:
        if ours[case.name].share < _MISSED:
            continue
        model = models[case.name]
        broken = [path for path in replay.files if case.broke(path)]
        _say(f"\nmiss: {case.name} at {ours[case.name].share:.0%}: {case.title[:90]}")
        if not broken:
            _say(f"  the tree has none of {', '.join(case.broken)}")
            continue
        best = min(broken, key=lambda path: (-model.score(replay.files[path]), path))
        _say(f"  {best}: score {model.score(replay.files[best]):.2f}")
        for name, value in sorted(replay.files[best].items(), key=lambda item: -item[1]):
            better = sum(seen.get(name, 0.0) > value for seen in replay.files.values())
            _say(f"    {name} {value:.2f}, {better} files above: {replay.evidence[best].get(name, '')[:120]}")


def _figures(found: Found, rankings: Mapping[str, Ranking]) -> Mapping[str, object]:
    return {
        case.name: {
            "files": len(replay.files),
            "seconds": replay.seconds,
            "rank": {name: ranking[case.name].rank for name, ranking in rankings.items()},
        }
        for case, replay in found
    }


def _span(span: tuple[float, float]) -> str:
    return f"{span[0]:+.2f}..{span[1]:+.2f}" if span[0] < 0 else f"{span[0]:.2f}..{span[1]:.2f}"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")


def _warn(text: str) -> None:
    _note(f"catalogs: {text}")


if __name__ == "__main__":
    sys.exit(main())
