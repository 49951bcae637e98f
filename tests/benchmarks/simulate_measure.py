"""Measure what `simulate` reckons with, and write it down with how each figure was measured.

    python -m tests.benchmarks.simulate_measure --history GIT_DIR --results JSON [--commits N] [--out FILE]

GIT_DIR is a bare PyTorch repository, JSON what `upstream` wrote with `--json`: seconds of every test on the device.
From the history come the hours of the day at which changes land, how many are reverted, and changes to select tests
for; the plan of each of these is the product's own, by the manifests of this repository. Everything is in processor
seconds, so that a busy machine measures the same: on a free core that is about the time it takes. Some minutes for 30
changes. What nothing here can measure stays as FILE has it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Any

from selector.catalog import CatalogFile
from selector.cut import Cut
from selector.history import read_history
from selector.known import Known
from selector.manifests import ManifestDocument, ManifestSet, load_manifests
from selector.pipeline import select
from selector.trees import GitTree, git_diff, run_git
from tests.benchmarks.processor_time import processor_seconds
from tests.benchmarks.simulate_figures import FIGURES

MANIFESTS = Path(__file__).parents[2] / "test_manifests" / "upstream"
LANDER = "PyTorch MergeBot"
REPEATS = 5
#: As `RELAY_HOLDOUT_SHARE` is when nobody says anything.
HOLDOUT = 0.03


@dataclass(frozen=True, slots=True)
class File:
    """One test file on the device: seconds and number of tests by base test, and seconds beside its tests."""

    tests: Mapping[str, tuple[int, float]]
    beside_s: float


@dataclass(frozen=True, slots=True)
class Landing:
    """A commit on the trunk."""

    commit: str
    when: datetime
    title: str


def main() -> int:
    wanted = _arguments()
    files = read_files(json.loads(wanted.results.read_text(encoding="utf-8")))
    landed = landings(wanted.history)
    # Of the newest eighth: their tests are most like those of today.
    step = max(1, len(landed) // 8 // wanted.commits)
    chosen = [one.commit for one in landed[: step * wanted.commits : step]]
    document = {
        **of_landings(landed),
        "files": _told(
            {path: _rounded(file) for path, file in files.items()},
            "tests; seconds of all of them on the emulated device; seconds beside them (a process, the import of the "
            "file, collecting): a run of these upstream files of PyTorch 2.13 by `tests.benchmarks.upstream`",
        ),
        "changes": _told(
            list(measured_changes(wanted.history, chosen, files)),
            f"{len(chosen)} commits of that trunk at even distances: processor seconds of stages 1 to 4 with what was "
            "read of earlier trees (`select_s`), and the plan: [file, tests, seconds], none where nothing is affected",
        ),
        "checkout_s": _told(
            _checkouts(wanted.history, chosen), "`git worktree add` of these commits, processor seconds"
        ),
        "import_s": _told(_imports(), "`import torch` in a process of its own, processor seconds"),
    }
    kept = json.loads(wanted.out.read_text(encoding="utf-8")) if wanted.out.exists() else {}
    wanted.out.write_text(_lines({**kept, **document}), encoding="utf-8")
    return 0


def landings(repository: Path) -> list[Landing]:
    """What the trunk took in the year before its newest commit, the newest first."""
    newest = int(_git(repository, "log", "-1", "--format=%ct", "HEAD"))
    asked = ("--first-parent", f"--committer={LANDER}", f"--since=@{newest - 365 * 86_400}", "--format=%H %ct %s")
    lines = (line.split(" ", 2) for line in _git(repository, "log", *asked, "HEAD").splitlines())
    return [Landing(commit, datetime.fromtimestamp(int(when), UTC), title) for commit, when, title in lines]


def of_landings(landed: Sequence[Landing]) -> dict[str, dict[str, object]]:
    """When changes come, and how many are taken back."""
    hours, days = Counter(one.when.hour for one in landed), Counter(one.when.date() for one in landed)
    working = [count for day, count in days.items() if day.weekday() < 5]
    reverts = sum(one.title.startswith("Revert ") for one in landed)
    return {
        "hours": _told(
            [round(hours[hour] / len(landed), 4) for hour in range(24)],
            f"share of the {len(landed):,} commits that {LANDER} landed on PyTorch's trunk from "
            f"{landed[-1].when:%B %Y} to {landed[0].when:%B %Y}, by the hour (UTC) of the committer's date: `git log`",
        ),
        "merged_per_day": _told(
            round(sum(working) / len(working)), f"the same commits, mean of {len(working)} working days"
        ),
        "broken": _told(
            round(reverts / len(landed), 4),
            "share of the same commits that revert another one: so many changes have failures that are tried again and "
            "compared with base",
        ),
    }


def _lines(document: Mapping[str, object]) -> str:
    """JSON with a line for each row of numbers."""
    text = json.dumps(document, indent=1)
    return re.sub(r"\[\s+([^][{}]+?)\s+\]", lambda row: f"[{' '.join(row[1].split())}]", text) + "\n"


def read_files(results: Mapping[str, Any]) -> dict[str, File]:
    """The device's side of what `upstream` measured. Its first file bears the start of everything, which others have
    not: beside its tests it is given what is usual."""
    found = {one["file"]: _file(one) for one in results["files"]}
    first, *others = found
    usual = median(found[file].beside_s for file in others)
    return {**found, first: replace(found[first], beside_s=usual)}


def _file(one: Mapping[str, Any]) -> File:
    tests: dict[str, tuple[int, float]] = {}
    for test in one["tests"]:
        side = test["spyre"]
        if side is not None:
            count, seconds = tests.get(test["base"], (0, 0.0))
            tests[test["base"]] = count + 1, seconds + side["seconds"]
    inside = sum(seconds for _, seconds in tests.values())
    return File(tests, max(0.0, one["spyre"]["seconds"] - inside))


def measured_changes(
    repository: Path, commits: Iterable[str], files: Mapping[str, File]
) -> Iterable[dict[str, object]]:
    """What the product does with each change: how long it takes to select, and what it plans."""
    manifests = load_manifests(
        [ManifestDocument(path.name, path.read_text(encoding="utf-8")) for path in sorted(MANIFESTS.glob("*.yaml"))]
    )
    with tempfile.TemporaryDirectory(prefix="simulate-") as folder:
        known = Path(folder)
        for commit in commits:
            _change(repository, commit, manifests, known, files)  # reads the tree: an earlier change did on a worker
            yield _change(repository, commit, manifests, known, files)


def _change(
    repository: Path, commit: str, manifests: ManifestSet, folder: Path, files: Mapping[str, File]
) -> dict[str, object]:
    parent = _git(repository, "rev-parse", f"{commit}^").strip()
    title, _, body = _git(repository, "log", "-1", "--format=%B", commit).partition("\n")
    began = time.process_time()
    diff = git_diff(repository, parent, commit)
    with (
        GitTree(repository, parent) as base,
        GitTree(repository, commit) as head,
        read_history(folder / "history", repository, parent, _quiet) as history,
    ):
        outcome = select(diff, base, head, title=title, body=body, llm=None, manifests=manifests,
                         known=Known(history=history), cut=Cut(None, HOLDOUT, ""), device="spyre",
                         cache=CatalogFile(folder / "catalog", _quiet))  # fmt: skip
    took = time.process_time() - began
    plan: dict[str, tuple[int, float]] = {}
    for candidate in outcome.selection.kept:
        file = files.get(candidate.test.file)
        count, seconds = file.tests.get(str(candidate.test), (0, 0.0)) if file else (0, 0.0)
        if count:
            before = plan.get(candidate.test.file, (0, 0.0))
            plan[candidate.test.file] = before[0] + count, before[1] + seconds
    print(f"{commit[:12]} {took:5.1f} s, {len(plan)} files", file=sys.stderr)
    return {"select_s": round(took, 2), "plan": [[path, n, round(s, 2)] for path, (n, s) in plan.items()]}


def _checkouts(repository: Path, commits: Iterable[str]) -> list[float]:
    return [_checkout(repository, commit) for commit, _ in zip(commits, range(REPEATS), strict=False)]


def _checkout(repository: Path, commit: str) -> float:
    with tempfile.TemporaryDirectory(prefix="simulate-") as folder:
        tree = Path(folder) / "tree"
        # A shared clone: the repository itself is left as it is.
        run_git(Path(folder), "clone", "--quiet", "--bare", "--shared", str(repository), "mirror")
        add = ["git", "-C", f"{folder}/mirror", "worktree", "add", "--quiet", "--detach", str(tree), commit]
        return round(processor_seconds(add, Path(folder), {"PATH": "/usr/bin:/bin"}, Path(folder) / "log").seconds, 2)


def _imports() -> list[float]:
    command = [sys.executable, "-c", "import torch"]
    with tempfile.TemporaryDirectory(prefix="simulate-") as folder:
        spent = [processor_seconds(command, Path(folder), {}, Path(folder) / "log") for _ in range(REPEATS)]
    return [round(one.seconds, 2) for one in spent]


def _rounded(file: File) -> tuple[int, float, float]:
    counts, seconds = zip(*file.tests.values(), strict=True)
    return sum(counts), round(sum(seconds), 2), round(file.beside_s, 2)


def _told(value: object, how: str) -> dict[str, object]:
    return {"how": how, "value": value}


def _git(repository: Path, *arguments: str) -> str:
    return run_git(repository, *arguments).decode("utf-8", errors="replace")


def _quiet(_note: str) -> None:
    pass


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--history", type=Path, required=True, help="a bare PyTorch repository")
    parser.add_argument("--results", type=Path, required=True, help="what tests.benchmarks.upstream wrote")
    parser.add_argument("--commits", type=int, default=30)
    parser.add_argument("--out", type=Path, default=FIGURES)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
