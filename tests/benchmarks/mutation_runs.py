"""Runs of the chosen test files with the installed torch, or with a mutated file laid over it: `Bench`.

What a run saw is kept in the work folder when it is whole: a file of the first run, a whole run of all files later. A
benchmark that was cut off goes on from there. Every test file runs in a process of its own, forked from one that has
imported torch.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath

from relay.contract import Observation
from tests.benchmarks.mutation_place import Place
from workers.runner.runner import Runner
from workers.runner.sandbox import Unconfined
from workers.runner.types import Installation, RunnerLimits, RunnerTree, TestOutcome, WantedTest

#: Folders of test files in the order of their turns; those named more often have more turns.
TURNS = (
    *("test", "test", "test", "test/dynamo", "test/dynamo", "test/torch_np", "test/torch_np/numpy_tests"),
    *("test/nn", "test/export", "test/fx", "test/functorch", "test/distributions", "test/optim", "test/autograd"),
    "test/higher_order_ops",
)
#: Larger files hold too many tests to be quick.
_BYTES = 300_000
_FAILED = frozenset({Observation.FAILED, Observation.CRASHED, Observation.TIMED_OUT, Observation.MISSING})
#: A mutant may take so many times the seconds of the first run, and some more, before a file counts as hanging.
_PATIENCE, _GRACE_S = 5, 20
_TOO_SLOW = "takes longer than it may"
_LIMITS = RunnerLimits(test_timeout_s=30, file_timeout_s=300, children=10)


@dataclass(frozen=True, slots=True)
class BaseFile:
    """A test file of the first run: base tests and observations by test id, and the seconds that the tests took, or
    why the file is of no use."""

    file: str
    tests: Mapping[str, str]
    seen: Mapping[str, str]
    seconds: float
    problem: str = ""


def candidates(tree: Path) -> list[str]:
    """Test files in the order in which they are tried: folders take turns, and inside a folder a digest decides."""
    queues = {folder: _in_folder(tree, folder) for folder in dict.fromkeys(TURNS)}
    found: list[str] = []
    while any(queues.values()):
        found += [queues[folder].pop() for folder in TURNS if queues[folder]]
    return found


def _in_folder(tree: Path, folder: str) -> list[str]:
    """The last is the first to be tried."""
    deep = folder.count("/") > 1
    files = (tree / folder).glob("**/test_*.py" if deep else "test_*.py")
    names = (f"{PurePosixPath(file.relative_to(tree))}" for file in files if file.stat().st_size <= _BYTES)
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())


class Bench:
    """`work` holds the results. Only for one thread; threads that run mutants at the same time have one each."""

    def __init__(self, place: Place, tree: Path, work: Path) -> None:
        self._place, self._work = place, work
        self._tree = RunnerTree(tree.resolve())

    def base(self, tree: Path, budget_s: float, file_s: float, note: Callable[[str], None]) -> list[BaseFile]:
        """The first run: files are tried until those that are quick enough add up to `budget_s` seconds."""
        chosen: list[BaseFile] = []
        with self._runner("base", {}) as runner:
            for file in candidates(tree):
                if sum(one.seconds for one in chosen) >= budget_s:
                    break
                base = self._kept_base(runner, file, file_s)
                note(f"{file}: {len(base.tests)} tests, {base.seconds:.1f} s {base.problem}")
                chosen += [base] if not base.problem else []
        return chosen

    def _kept_base(self, runner: Runner, file: str, file_s: float) -> BaseFile:
        kept = self._work / "base" / f"{file.replace('/', '.')}.json"
        known = BaseFile(**json.loads(kept.read_text(encoding="utf-8"))) if kept.is_file() else None
        if known is None or (known.problem == _TOO_SLOW and known.seconds < file_s):
            known = _base_file(runner, self._tree, file, file_s)
            write_json(kept, asdict(known))
        return known

    def whole(self, name: str, files: Sequence[BaseFile], laid: Mapping[str, Path]) -> Mapping[str, str]:
        """The observation of every test of `files`, in a whole run called `name`."""
        kept = self._work / "runs" / f"{name}.json"
        if not kept.is_file():
            began = time.monotonic()
            with self._runner(name, laid) as runner:
                problem = runner.probe(self._tree)
                seen = {} if problem else dict(self._observations(runner, files))
            seconds = round(time.monotonic() - began, 1)
            write_json(kept, {"problem": problem, "seconds": seconds, "seen": seen})
        document = json.loads(kept.read_text(encoding="utf-8"))
        return {"": document["problem"]} if document["problem"] else document["seen"]

    def _observations(self, runner: Runner, files: Sequence[BaseFile]) -> Iterator[tuple[str, str]]:
        for file in files:
            limit = file.seconds * _PATIENCE + _GRACE_S
            for test, outcome in _run(runner, self._tree, file.file, list(file.tests), limit).items():
                yield test, str(outcome.observation) if outcome is not None else str(Observation.TIMED_OUT)

    def executed(self, file: BaseFile) -> Mapping[str, set[str]]:
        """The functions (`path:qualified.name`) that began in each test of a file; those before its first test under an
        empty name. The file gets a process that imports torch of its own, so that it owes nothing to other files."""
        found: dict[str, set[str]] = {}

        def take(test: str, functions: Collection[str]) -> None:
            found.setdefault(test, set()).update(functions)

        with self._runner("map", {}, take) as runner:
            _run(runner, self._tree, file.file, list(file.tests), file.seconds * _PATIENCE * 2 + _GRACE_S)
        return found

    def _runner(
        self, name: str, laid: Mapping[str, Path], on_executed: Callable[[str, frozenset[str]], None] | None = None
    ) -> Runner:
        installation = Installation("cpu", None, self._place.interpreter(name, laid))
        box = Unconfined("the tests are PyTorch's own, and the mutants ours")
        return Runner(installation, self._work / "scratch" / name, box, _LIMITS, on_executed=on_executed)


def _base_file(runner: Runner, tree: RunnerTree, file: str, file_s: float) -> BaseFile:
    collection = runner.collect(tree, file)
    bases = {test.id: str(test.base_test) for test in collection.tests}
    if collection.error or not bases:
        return BaseFile(file, {}, {}, 0.0, f"not collected: {collection.error[-200:]}")
    began = time.monotonic()
    outcomes = _run(runner, tree, file, list(bases), file_s)
    seconds = round(time.monotonic() - began, 2)
    seen = {test: str(outcome.observation) for test, outcome in outcomes.items() if outcome is not None}
    if len(seen) < len(bases):
        return BaseFile(file, {}, {}, seconds, _TOO_SLOW)
    passed = sum(one == Observation.PASSED for one in seen.values())
    return BaseFile(file, bases, seen, seconds, "" if passed else "no test passes")


def _run(
    runner: Runner, tree: RunnerTree, file: str, tests: Sequence[str], limit_s: float
) -> dict[str, TestOutcome | None]:
    """The outcome of each test; None for those that had no turn within `limit_s` seconds."""
    outcomes: dict[str, TestOutcome | None] = dict.fromkeys(tests)
    deadline = time.monotonic() + limit_s

    def take(outcome: TestOutcome) -> None:
        outcomes[outcome.id] = outcome

    runner.run(tree, file, [WantedTest(test) for test in tests], take, lambda: time.monotonic() > deadline)
    return outcomes


def clean(files: Sequence[BaseFile], null: Mapping[str, str]) -> frozenset[str]:
    """The tests that passed twice without a change: those that labels are about."""
    passed = str(Observation.PASSED)
    return frozenset(
        test for file in files for test, seen in file.seen.items() if seen == passed and null.get(test) == passed
    )


def differing(files: Sequence[BaseFile], null: Mapping[str, str]) -> list[str]:
    """The tests that two runs without a change saw differently."""
    return sorted(test for file in files for test, seen in file.seen.items() if null.get(test) != seen)


def failing(seen: Mapping[str, str], labelled: frozenset[str]) -> frozenset[str]:
    """The labelled tests that fail, or are missing, in a run. A test that is skipped now does not fail."""
    return frozenset(test for test in labelled if seen.get(test, str(Observation.MISSING)) in _FAILED)


def write_json(file: Path, document: object) -> None:
    """Whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_suffix(".begun")
    begun.write_text(json.dumps(document) + "\n", encoding="utf-8")
    begun.replace(file)
