"""Whole models on the emulated device: `python -m tests.benchmarks.bench_models [--profile NAME]... [--planted]`.

Runs the models of `test_manifests/models` as a worker does, held against the CPU, in each profile; by default `compat`
and `spyre-2026-06`. Prints for each model how many of its tests passed, and by which rules the device refused others.

With `--planted` it then puts errors into torch, one at a time: which checks the selector picks from the diff alone,
which of these find the error, and the first diverging layer they name. Takes some minutes, most of it torch's compiler.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from relay.contract import Observation
from selector.change.wheels import InstalledWheel
from selector.manifests import ManifestDocument, ManifestSet, load_manifests
from selector.manifests.models import ModelCheck
from selector.ownership.models import RULE
from selector.pipeline import select
from tests.benchmarks.planted_in_torch import PLANTED, ChangedWheel, Planted, torch_with
from workers.models.references import References
from workers.models.running import ModelRun, run_model
from workers.runner.runner import Runner
from workers.runner.sandbox import find_sandbox
from workers.runner.types import Installation, RunnerTree, TestOutcome, WantedTest
from workers.spyre.build import ensure_library

MANIFESTS = Path(__file__).parents[2] / "test_manifests/models"
PROFILES = ("compat", "spyre-2026-06")
_RULE = re.compile(r": unsupported: ([a-z-]+): ")
_LAYER = re.compile(r"first diverging layer: (.+?), given")


@dataclass(frozen=True, slots=True)
class Place:
    """Where models run: a checkout without anything in it, references, a runner."""

    folder: Path
    runner: Runner
    references: References

    def run(self, check: ModelCheck, torch_path: Path | None = None) -> list[TestOutcome]:
        """The outcomes of a check with the installed torch, or another; base has the installed one."""
        outcomes: list[TestOutcome] = []
        base = RunnerTree(self.folder)
        run_model(
            self.runner,
            RunnerTree(self.folder, torch_path),
            ModelRun(check, self.references, lambda: base),
            [WantedTest(test.id) for test in check.collected()],
            on_outcome=outcomes.append,
            should_stop=lambda: False,
        )
        return outcomes


@dataclass(slots=True)
class Score:
    """Of planted errors: how many a check was picked for, and how many were found where they are."""

    picked: int = 0
    found: int = 0
    placed: int = 0
    lines: list[str] = field(default_factory=list)


def main() -> int:
    """Run and print; the exit code is 1 when a model fails, or an error is not found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", action="append", help="a profile of the device; may be given again")
    parser.add_argument("--planted", action="store_true", help="put errors into torch")
    parser.add_argument("names", nargs="*", help="models, all by default")
    wanted = parser.parse_args()
    manifests = load_manifests(
        [ManifestDocument(path.name, path.read_text()) for path in sorted(MANIFESTS.glob("*.yaml"))]
    )
    checks = [
        rules.check for rules in manifests.models.values() if not wanted.names or rules.check.name in wanted.names
    ]
    failed = sum(_profile(profile, checks) for profile in wanted.profile or PROFILES)
    missed = _planted(manifests, checks) if wanted.planted else 0
    return 1 if failed or missed else 0


def _profile(profile: str, checks: Sequence[ModelCheck]) -> int:
    """Print a table; how many tests failed."""
    failures = 0
    print(f"\nprofile {profile}\n{'model':20} {'tests':>5} {'passed':>6} {'refused':>7} {'failed':>6} {'seconds':>7}")
    with _place(profile) as place:
        for check in checks:
            began = time.perf_counter()
            outcomes = place.run(check)
            rules = sorted({rule for outcome in outcomes for rule in _RULE.findall(outcome.detail.split("\n")[0])})
            passed = sum(outcome.observation is Observation.PASSED for outcome in outcomes)
            refused = sum(bool(_RULE.search(outcome.detail.split("\n")[0])) for outcome in outcomes)
            failed = len(outcomes) - passed - refused
            numbers = f"{len(outcomes):5} {passed:6} {refused:7} {failed:6} {time.perf_counter() - began:7.1f}"
            print(f"{check.name:20} {numbers}  {', '.join(rules)}", flush=True)
            failures += failed
            for outcome in outcomes:
                if outcome.detail and not _RULE.search(outcome.detail.split("\n")[0]):
                    print(f"    {outcome.id}: {outcome.detail}")
    return failures


def _planted(manifests: ManifestSet, checks: Sequence[ModelCheck]) -> int:
    """Print what became of each error; how many were not found, or not in their layer."""
    score = Score()
    wheel = InstalledWheel(Path(sysconfig.get_path("purelib")))
    with _place("compat") as place, tempfile.TemporaryDirectory() as folder:
        for number, planted in enumerate(PLANTED):
            print(f"\n{planted.name} ({planted.path})")
            picked = _picked(ChangedWheel(wheel, planted), manifests, checks)
            torch_path = torch_with(planted, Path(folder) / str(number))
            _look_for(planted, [(check, place.run(check, torch_path)) for check in picked], score)
    print(
        f"\n{len(PLANTED)} errors: {score.picked} had a check picked from the diff alone, "
        f"{score.found} were found, {score.placed} in the layer that has them"
    )
    return len(PLANTED) - min(score.picked, score.found, score.placed)


def _picked(changed: ChangedWheel, manifests: ManifestSet, checks: Sequence[ModelCheck]) -> list[ModelCheck]:
    """The checks that the selector picks because of what their models use. A wheel has no tests, so everything is kept
    besides, for want of a test of what changed; that does not count."""
    outcome = select(changed.diff(), changed.wheel, changed, llm=None, manifests=manifests)
    kept = {
        candidate.test.file
        for candidate in outcome.selection.kept
        if any(reason.rule == RULE for reason in candidate.reasons)
    }
    picked = [check for check in checks if check.file in kept]
    print(f"  picked: {', '.join(check.name for check in picked) or 'none'}")
    return picked


def _look_for(planted: Planted, results: Sequence[tuple[ModelCheck, Sequence[TestOutcome]]], score: Score) -> None:
    found = placed = False
    for check, outcomes in results:
        failed = [outcome for outcome in outcomes if outcome.observation is Observation.FAILED]
        layers = sorted({layer for outcome in failed for layer in _LAYER.findall(outcome.detail)})
        print(f"  {check.name:20} {len(failed)} of {len(outcomes)} tests fail  {', '.join(layers)}", flush=True)
        found = found or bool(failed)
        placed = placed or any(planted.layer in layer for layer in layers)
    score.picked += bool(results)
    score.found += found
    score.placed += placed


@contextmanager
def _place(profile: str) -> Iterator[Place]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "upstream").mkdir()
        installation = Installation("spyre", ensure_library(Path(".relay/device").resolve()), profile=profile)
        with Runner(installation, folder / "scratch", find_sandbox()) as runner:
            yield Place(folder / "upstream", runner, References(folder / "references", profile))


if __name__ == "__main__":
    sys.exit(main())
