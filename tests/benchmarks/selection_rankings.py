"""The rankings that are put side by side: what each says about every test file of every case.

A ranking is a mapping of scores by file for each case; higher is sooner, ties go by name.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from selector.ownership.model import Model
from tests.benchmarks.selection_cases import Case, Replay
from tests.benchmarks.selection_figures import Place, place, random_place
from tests.benchmarks.target_determination import TargetDetermination

OURS = "ours, 5-fold"
OURS_SAFE = "must-run first"
TD = "upstream's TD"
RANDOM = "random"
BM25 = "BM25"
_LEXICAL = ("paths in tests", "paths in path", "code in tests", "description in tests")

Found = Sequence[tuple[Case, Replay]]
Scores = Mapping[str, float]
#: Scores by file, by case.
Ranking = Mapping[str, Scores]


def rankings_of(found: Found, models: Mapping[str, Model]) -> dict[str, Ranking]:
    """Each ranking that needs nothing but the replays and the models, by name."""

    def signal(name: str) -> Callable[[Case, Replay], Scores]:
        return lambda _, replay: {path: seen.get(name, 0.0) for path, seen in replay.files.items()}

    def summed(_: Case, replay: Replay) -> Scores:
        return {path: sum(seen.get(name, 0.0) for name in _LEXICAL) for path, seen in replay.files.items()}

    def ours(case: Case, replay: Replay) -> Scores:
        return {path: models[case.name].score(seen) for path, seen in replay.files.items()}

    def safe(case: Case, replay: Replay) -> Scores:
        return {path: score + (path in replay.must_run) for path, score in ours(case, replay).items()}

    scoring: Mapping[str, Callable[[Case, Replay], Scores]] = {
        "edited only": lambda _, replay: dict.fromkeys(replay.changed, 1.0),
        "file names": signal("paths in path"),
        "co-change": signal("co-change"),
        BM25: summed,
        "rules alone": lambda _, replay: replay.rules,
        OURS: ours,
        OURS_SAFE: safe,
    }
    return {name: {case.name: score(case, replay) for case, replay in found} for name, score in scoring.items()}


def probabilities_of(found: Found, models: Mapping[str, Model]) -> Ranking:
    """How likely our models think that each file breaks, which is what is weighed against its seconds."""
    return {
        case.name: {path: models[case.name].probability(seen) for path, seen in replay.files.items()}
        for case, replay in found
    }


def target_determination(found: Found, theirs: TargetDetermination, work: Path) -> Ranking:
    """Upstream's ranking. Takes some seconds a case; answers are kept in `work`."""
    folder = work / "target-determination"
    folder.mkdir(exist_ok=True)
    ranking: dict[str, Scores] = {}
    for case, replay in found:
        kept = folder / f"{case.commit}.json"
        if not kept.is_file():
            past = {path: seen.get("co-change", 0.0) for path, seen in replay.files.items()}
            together = {path: math.expm1(value) for path, value in past.items() if value}
            scores = theirs.scores(sorted(replay.files), replay.changed, replay.message, together)
            kept.write_text(json.dumps(scores), encoding="utf-8")
            sys.stderr.write(f"{case.name}: target determination\n")
        ranking[case.name] = json.loads(kept.read_text(encoding="utf-8"))
    return ranking


def broken_files(case: Case, replay: Replay) -> list[str]:
    """The files that the case broke, of those in its tree."""
    return [path for path in replay.files if case.broke(path)]


def places_of(found: Found, rankings: Mapping[str, Ranking]) -> dict[str, dict[str, Place]]:
    """The place of each case's best broken file in each ranking, and in a random order."""
    chance = {case.name: random_place(len(replay.files), len(broken_files(case, replay))) for case, replay in found}
    places = {
        name: {
            case.name: place(ranking[case.name], sorted(replay.files), broken_files(case, replay))
            for case, replay in found
        }
        for name, ranking in rankings.items()
    }
    return {RANDOM: chance, **places}
