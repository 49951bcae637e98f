"""How long people wait for a verdict with so many workers, how many workers it takes, and where that ends.

    python -m tests.benchmarks.simulate [--per-day N] [--burst N] [--workers N ...] [--target-s S] [--json]
    python -m tests.benchmarks.simulate --readme [--write README.md]

A discrete-event simulation: a day of changes by the hours of PyTorch's own, selected, cut into shards and queued by the
product's own code, on workers whose service times were measured (`simulate_figures.json` says how; `--figures` names
another file, which `simulate_measure` writes). What it says is about one device and workers of one shard at a time.
`simulate_real` holds it to a real service.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count
from pathlib import Path

from relay.queue_views import WorkClass
from tests.benchmarks.simulate_day import DAY_S, Day, Wish
from tests.benchmarks.simulate_figures import FIGURES, read_figures
from tests.benchmarks.simulate_queue import FallenBehindError, Outcome, simulate

TARGET_S = 600.0
ROWS = (4, 6, 8, 12, 16)
BURST = 60
#: People wait for these.
WAITED_FOR = (WorkClass.MERGED, WorkClass.PULL_REQUEST)
#: With so many runs before each worker nobody gets a verdict in time any more: they have fallen behind.
_BEHIND = 30
_BEGIN, _END = "<!-- capacity: written by `make capacity` -->", "<!-- end of capacity -->"


@dataclass(frozen=True)
class Study:
    """The questions, each answered by days of the same chance."""

    day: Day
    wish: Wish
    target_s: float = TARGET_S

    def of(self, workers: int, *, burst: int = 0, supersede: bool = True) -> Outcome:
        """Raises `FallenBehindError`."""
        asked = replace(self.wish, burst=burst)
        return simulate(self.day.jobs(asked), workers, supersede=supersede, most_waiting=_BEHIND * workers + burst)

    @cached_property
    def workers_needed(self) -> int:
        """The fewest workers with which 95 of 100 verdicts that people wait for come in time on a usual day."""
        return self._fewest(0)

    @cached_property
    def workers_needed_in_a_burst(self) -> int:
        return self._fewest(self.wish.burst)

    def _fewest(self, burst: int) -> int:
        offered = sum(job.seconds for job in self.day.jobs(self.wish)) / DAY_S
        return next(n for n in count(max(1, int(offered))) if self._in_time(n, burst))

    def _in_time(self, workers: int, burst: int) -> bool:
        try:
            outcome = self.of(workers, burst=burst)
        except FallenBehindError:
            return False
        return all(percentile(outcome.verdicts(one), 95) <= self.target_s for one in WAITED_FOR)

    def saturated_at(self, workers: int) -> float:
        """Changes a day that keep these workers busy around the clock; with more of them they fall behind for good."""
        outcome = self.of(workers)
        return self.wish.per_day * workers * DAY_S / outcome.busy_s

    @cached_property
    def saved_by_superseding(self) -> float:
        """Share of the workers' time that is not spent on changes which a newer push has replaced."""
        with_it, without = (self.of(self.workers_needed, supersede=supersede) for supersede in (True, False))
        return 1 - with_it.busy_s / without.busy_s


def percentile(values: Sequence[float], share: float) -> float:
    """By the nearest rank, of sorted values; 0 of none."""
    return values[max(0, -(-len(values) * int(share) // 100) - 1)] if values else 0.0


def table(study: Study, rows: Sequence[int]) -> Iterator[str]:
    """Markdown: minutes to a verdict, half of the changes and 95 of 100."""
    yield "| workers | merged | pull request | nightly | audit | busy | merged, in a burst | pull request, in a burst |"
    yield "|---|---|---|---|---|---|---|---|"
    for workers in rows:
        usual, burst = _tried(study, workers, 0), _tried(study, workers, study.wish.burst)
        cells = [_minutes(usual, one) for one in WorkClass]
        cells += [f"{100 * usual.busy_s / workers / max(usual.ended_s, DAY_S):.0f} %" if usual else "100 %"]
        cells += [_minutes(burst, one) for one in WAITED_FOR]
        yield f"| {workers} | {' | '.join(cells)} |"


def _tried(study: Study, workers: int, burst: int) -> Outcome | None:
    try:
        return study.of(workers, burst=burst)
    except FallenBehindError:
        return None


def _minutes(outcome: Outcome | None, work_class: WorkClass) -> str:
    if outcome is None:
        return "falls behind"
    found = outcome.verdicts(work_class)
    halves = [f"{percentile(found, share) / 60:.1f}" for share in (50, 95)]
    return halves[1] if len(found) == 1 else " / ".join(halves)


def answers(study: Study) -> Iterator[str]:
    """The rest in sentences."""
    target, needed = f"{study.target_s / 60:.0f} minutes", study.workers_needed
    yield (
        f"95 of 100 verdicts on merged changes and pull requests within {target} take {needed} workers, and "
        f"{study.workers_needed_in_a_burst} with the burst. {needed} workers are busy around the clock "
        f"at {study.saturated_at(needed):,.0f} changes a day. Superseding spares "
        f"{100 * study.saved_by_superseding:.0f} % of the workers' time."
    )


def readme_section(study: Study) -> str:
    return "\n".join([*table(study, ROWS), "", *_wrapped(answers(study))])


def _wrapped(sentences: Iterator[str]) -> Iterator[str]:
    line = ""
    for word in " ".join(sentences).split():
        if len(line) + len(word) + 1 > 120:
            yield line
            line = ""
        line = f"{line} {word}".strip()
    yield line


def replaced(text: str, section: str) -> str:
    """The README with the section between its marks. Raises `ValueError` where they are not."""
    before, after = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    return f"{text[:before]}\n\n{section}\n\n{text[after:]}"


def document(study: Study, rows: Sequence[int]) -> Mapping[str, object]:
    def told(outcome: Outcome | None) -> dict[str, object]:
        if outcome is None:
            return {"falls_behind": True}
        classes = {
            one.value: {f"p{share}_s": round(percentile(outcome.verdicts(one), share), 1) for share in (50, 95)}
            for one in WorkClass
        }
        return {**classes, "busy": round(outcome.busy_s / outcome.workers / max(outcome.ended_s, DAY_S), 4),
                "most_waiting": outcome.longest}  # fmt: skip

    scenes = {"usual": 0, "burst": study.wish.burst}.items()
    return {
        "per_day": study.wish.per_day,
        "burst": study.wish.burst,
        "seed": study.wish.seed,
        "workers": {n: {name: told(_tried(study, n, burst)) for name, burst in scenes} for n in rows},
        "target_s": study.target_s,
        "workers_needed": study.workers_needed,
        "workers_needed_in_a_burst": study.workers_needed_in_a_burst,
        "saturated_at_per_day": round(study.saturated_at(study.workers_needed)),
        "saved_by_superseding": round(study.saved_by_superseding, 4),
    }


def main() -> int:
    wanted = _arguments()
    if wanted.readme:
        section = readme_section(usual_study())
        if wanted.write is None:
            print(section)
        else:
            wanted.write.write_text(replaced(wanted.write.read_text(encoding="utf-8"), section), encoding="utf-8")
        return 0
    day = Day(read_figures(wanted.figures))
    study = Study(day, Wish(wanted.per_day, wanted.burst, wanted.seed), wanted.target_s)
    if wanted.json:
        print(json.dumps(document(study, wanted.workers), indent=1))
    else:
        print("\n".join([*table(study, wanted.workers), "", *answers(study)]))
    return 0


def usual_study() -> Study:
    """What the README tells of."""
    return Study(Day(read_figures()), Wish(burst=BURST))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--per-day", type=float, default=1_500, help="changes a day")
    parser.add_argument("--burst", type=int, default=BURST, help="changes merged on top within the busiest hour")
    parser.add_argument("--workers", type=int, nargs="+", default=ROWS)
    parser.add_argument("--target-s", type=float, default=TARGET_S, help="for 95 of 100 verdicts that people wait for")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--figures", type=Path, default=FIGURES, help="what simulate_measure wrote")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--readme", action="store_true", help="print the capacity table of the README")
    parser.add_argument("--write", type=Path, help="with --readme: put it into this file")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
