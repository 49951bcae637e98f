"""What `tests.benchmarks.selection` prints: tables of places and of seconds, and every miss with its cause."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence

from selector.ownership.model import Model
from selector.ownership.training import Example, fit
from tests.benchmarks.selection_cases import TIERS, Case, Replay
from tests.benchmarks.selection_figures import (
    SHARES,
    Place,
    difference,
    hit_interval,
    interval,
    mean_reciprocal,
    misses,
    quantile,
)
from tests.benchmarks.selection_rankings import (
    BM25,
    OURS,
    OURS_SAFE,
    TD,
    Found,
    Ranking,
    broken_files,
    places_of,
    rankings_of,
)
from tests.benchmarks.selection_seconds import Budgeted, FileTimes, by_score, per_second, within

#: Cases before this day teach, the others are tried, in the time-ordered split.
SPLIT = "2022-12-01"
_MISSED = 0.10
_TIME = 0.25
_SHOWN_SIGNALS = 6
_WAYS = {"by score": by_score, "per second": per_second}
#: Files that say how everything is run rather than what one thing does.
_EVERYWHERE = re.compile(r"test/run_test\.py$|torch/testing/_internal/common_|\.github/|\.ci/|\.circleci/|cmake/|c10/")
_NATIVE = re.compile(r"\.(c|cc|cpp|cu|cuh|h|hpp|mm|metal)$")

Places = Mapping[str, Mapping[str, Place]]


def report_files(found: Found, places: Places) -> None:
    """Misses at shares of the files, and paired differences."""
    for tier in TIERS:
        names = [case.name for case, _ in found if case.tier == tier]
        if not names:
            continue
        say(f"\ntier {tier}, {len(names)} cases: misses at a share of the files, with the 95 % interval of the hits")
        for name, ranking in places.items():
            own = [ranking[case] for case in names]
            cells = [f"{misses(own, share):3} ({_span(hit_interval(own, share))})" for share in SHARES]
            say(f"  {name:14}" + "  ".join(cells) + f"  MRR {mean_reciprocal(own):.2f}")
        say("  " + " " * 14 + "  ".join(f"{share:15.0%}" for share in SHARES))
        for other in [name for name in (BM25, "rules alone", TD) if name in places]:
            ours, theirs = ([places[one][case] for case in names] for one in (OURS, other))
            for share in SHARES[2:]:
                mean, span = difference(ours, theirs, share)
                say(f"  {OURS} minus {other} at {share:.0%}: {mean:+.2f} ({_span(span)})")


def report_seconds(found: Found, rankings: Mapping[str, Ranking], times: FileTimes) -> None:
    """Hits at a quarter of the seconds: each ranking by its score, and by its score for each second."""
    for title, tiers in (*((f"tier {tier}", (tier,)) for tier in TIERS), ("all tiers", TIERS)):
        own = [(case, replay) for case, replay in found if case.tier in tiers]
        if not own:
            continue
        say(f"\n{title}, {len(own)} cases: hits at {_TIME:.0%} of the seconds of all files (interval)")
        results = _budgeted(own, rankings, times)
        for name, budgeted in results.items():
            hits = [float(one.hit) for one in budgeted]
            spent = sorted(one.spent for one in budgeted)
            span = f"{sum(hits) / len(hits):.3f} ({_span(interval(hits))})"
            say(f"  {name:28}{span}, spent on average {sum(spent) / len(spent):.1%}, at most {spent[-1]:.1%}")
        for way in _WAYS:
            _report_pairs(results, f"{OURS_SAFE}, {way}", [name for name in results if name.startswith((BM25, TD))])
        if len(tiers) > 1:
            for way in _WAYS:
                say(f"  {OURS_SAFE}, {way}:")
                _report_late(own, results[f"{OURS_SAFE}, {way}"], times)


def _budgeted(found: Found, rankings: Mapping[str, Ranking], times: FileTimes) -> dict[str, list[Budgeted]]:
    """What each ranking finds, for each way to order by it."""
    results: dict[str, list[Budgeted]] = {}
    for name in [name for name in (BM25, TD, OURS, OURS_SAFE) if name in rankings]:
        for way, ordered in _WAYS.items():
            ran = results[f"{name}, {way}"] = []
            for case, replay in found:
                seconds, broken = times.of(replay.files), broken_files(case, replay)
                order = ordered(rankings[OURS if name == OURS_SAFE else name][case.name], seconds)
                ran.append(within(_TIME, order, seconds, broken, replay.must_run if name == OURS_SAFE else None))
    return results


def _report_pairs(results: Mapping[str, Sequence[Budgeted]], ours: str, others: Sequence[str]) -> None:
    for other in others:
        pairs = [float(one.hit) - theirs.hit for one, theirs in zip(results[ours], results[other], strict=True)]
        say(f"  {ours} minus {other}: {sum(pairs) / len(pairs):+.2f} ({_span(interval(pairs))})")


def _report_late(found: Found, ours: Sequence[Budgeted], times: FileTimes) -> None:
    for (case, replay), budgeted in zip(found, ours, strict=True):
        if budgeted.hit:
            continue
        seconds = times.of(replay.files)
        room = _TIME * sum(seconds.values())
        needs = ", ".join(f"{path} of {seconds[path]:.0f} s" for path in broken_files(case, replay)[:3])
        say(f"  missed within {room:.0f} s: {case.name}, {needs or 'no broken file in the tree'}")


def report_split(found: Found, examples: Sequence[Example]) -> None:
    """The figures of one model that was learned before the cases it is tried on."""
    before = [example for example in examples if example.date < SPLIT]
    later = [(case, replay) for case, replay in found if case.date >= SPLIT]
    if not before or not later:
        return
    model = fit(before, history=True)
    places = places_of(later, rankings_of(later, {case.name: model for case, _ in later}))[OURS]
    for tier in TIERS:
        own = [places[case.name] for case, _ in later if case.tier == tier]
        if own:
            counts = ", ".join(f"{misses(own, share)} at {share:.0%}" for share in SHARES)
            say(f"learned before {SPLIT}, tried on {len(own)} later cases of tier {tier}: misses {counts}")


def report_misses(found: Found, ours: Mapping[str, Place], models: Mapping[str, Model]) -> None:
    """Each case that is not among the first tenth: why, and where every signal puts its best broken file."""
    for case, replay in found:
        if ours[case.name].share < _MISSED:
            continue
        say(f"\nmiss: {case.name} at {ours[case.name].share:.0%}: {case.title[:90]}")
        broken = broken_files(case, replay)
        if not broken:
            say(f"  cause: the tree has none of {', '.join(case.broken)}")
            continue
        model = models[case.name]
        best = min(broken, key=lambda path: (-model.probability(replay.files[path]), path))
        say(f"  cause: {cause(case, replay, best)}")
        worth = {name: model.weights.get(name, 0.0) * value for name, value in replay.files[best].items()}
        for name in sorted(worth, key=lambda name: (-worth[name], name))[:_SHOWN_SIGNALS]:
            above = _above(replay, name, replay.files[best][name])
            said = replay.evidence[best].get(name, "")[:110]
            say(f"    {name} {replay.files[best][name]:.2f} adds {worth[name]:+.2f}, {above} files above: {said}")


def cause(case: Case, replay: Replay, best: str) -> str:
    """Why nothing led to the broken file, from what changed and from what the strongest signal sees."""
    everywhere = [path for path in replay.changed if _EVERYWHERE.search(path)]
    native = [path for path in replay.changed if _NATIVE.search(path)]
    seen = replay.files[best]
    nearest = min(((_above(replay, name, value), name) for name, value in seen.items()), default=None)
    told = f"; what puts {best} highest is {nearest[1]}, with {nearest[0]} files above it" if nearest else ""
    total = len(replay.changed)
    if len(everywhere) * 2 >= total:
        return f"{len(everywhere)} of {total} changed files concern every test alike ({everywhere[0]}){told}"
    if len(native) * 2 >= total:
        return f"{len(native)} of {total} changed files are native code that no test names{told}"
    return f"the test file hardly says what the {total} changed files are about{told}"


def _above(replay: Replay, name: str, value: float) -> int:
    return sum(seen.get(name, 0.0) > value for seen in replay.files.values())


def report_latency(name: str, seconds: Sequence[float]) -> None:
    """The spread of some seconds."""
    if seconds:
        spread = f"p50 {quantile(seconds, 0.5):.1f}, p95 {quantile(seconds, 0.95):.1f}"
        say(f"seconds {name}, {len(seconds)} cases: {spread}")


def _span(span: tuple[float, float]) -> str:
    return f"{span[0]:+.2f}..{span[1]:+.2f}" if span[0] < 0 else f"{span[0]:.2f}..{span[1]:.2f}"


def say(text: str) -> None:
    """One line of the report."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
