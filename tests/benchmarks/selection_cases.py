"""Real changes that broke tests, replayed: what the selector saw of each, from the tree and the history of its time.

A case is read from a JSON line: `broke_commit`, `failing_tests` (files, folders ending in `/`, or test ids), `tier`,
`pr`, `title`, `date`. What a replay found is kept in a folder of one's own, by commit and by the text of the selector,
so that a second run with the same selector takes seconds.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from selector.catalog import CatalogCache, build_catalog
from selector.change import ChangeSet, analyse
from selector.collector import collector_paused
from selector.history import CoChange, CommitStore
from selector.known import Known
from selector.ownership import Ownership, link_tests
from selector.ownership.signals import FileSignals, file_signals, with_rules
from selector.ownership.weighing import RULE as WEIGHED
from selector.trees import GitTree, SourceTree, git_diff, run_git
from selector.types import Reason

SELECTOR = Path(__file__).parents[2] / "selector"
TIERS = ("A", "A2")
#: Modules whose change leaves what a replay keeps as it is.
_LEARNING = frozenset({"training.py", "model.py"})


@dataclass(frozen=True, slots=True)
class Case:
    """One breaking change. `broken` are file paths, or folders that end in `/`."""

    tier: str
    pr: int
    title: str
    date: str
    commit: str
    broken: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.tier} {self.pr}"

    def broke(self, path: str) -> bool:
        return any(path.startswith(broken) if broken.endswith("/") else path == broken for broken in self.broken)


@dataclass(frozen=True, slots=True)
class Replay:
    """What the selector says about every test file of one case.

    `files` are its signals with the rules of its tests, `rules` what the rules alone make of its best test, `must_run`
    the share of tests that must run of the files that have any. `seconds` is the time of stages 1 and 2, `evidence`
    that of the broken files.
    """

    files: Mapping[str, Mapping[str, float]]
    rules: Mapping[str, float]
    must_run: Mapping[str, float]
    changed: Sequence[str]
    message: str
    seconds: float
    evidence: Mapping[str, Mapping[str, str]]


def read_cases(file: Path) -> list[Case]:
    """The cases of tiers A and A2 in the order of the file."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [_case(line) for line in lines if line["tier"] in TIERS]


def _case(line: Mapping[str, object]) -> Case:
    failing = line["failing_tests"]
    names = [str(name) for name in failing] if isinstance(failing, list) else []
    broken = tuple(dict.fromkeys(name.partition("::")[0] for name in names))
    pr = int(str(line["pr"]))
    return Case(str(line["tier"]), pr, str(line["title"]), str(line["date"]), str(line["broke_commit"]), broken)


class Replays:
    """Replays cases on one bare repository, keeping what it found in `folder`."""

    def __init__(self, repository: Path, folder: Path, store: CommitStore, catalogs: CatalogCache | None) -> None:
        self._repository = repository
        self._folder = folder / "replays" / _text_of_selector()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._store = store
        self._catalogs = catalogs

    def of(self, case: Case) -> Replay:
        """The replay of a case: kept, or made now. Raises `TreeError` for a commit that is not there."""
        kept = self._folder / f"{case.commit}.json"
        if kept.is_file():
            return Replay(**json.loads(kept.read_text(encoding="utf-8")))
        replay = self.fresh(case, self._catalogs)
        kept.write_text(json.dumps(asdict(replay)), encoding="utf-8")
        return replay

    def fresh(self, case: Case, catalogs: CatalogCache | None) -> Replay:
        """Stages 1 and 2 on the tree at the breaking commit, with the history before it."""
        parent = run_git(self._repository, "rev-parse", f"{case.commit}^").decode().strip()
        message = run_git(self._repository, "log", "-1", "--format=%B", case.commit).decode("utf-8", errors="replace")
        self._store.fill(self._repository, parent)
        past = CoChange(self._store, parent)
        began = time.perf_counter()
        with collector_paused():  # as over a whole selection
            diff = git_diff(self._repository, parent, case.commit)
            with GitTree(self._repository, parent) as base, GitTree(self._repository, case.commit) as head:
                change = analyse(diff, base, head)
                catalog = build_catalog(head, catalogs)
            ownership = link_tests(change, catalog, message, known=Known(history=past))
            seconds = time.perf_counter() - began
        signals = file_signals(change, catalog, message, past)
        sizes = {path: len(file.tests) for path, file in catalog.files.items()}
        return _replay(case, change, message, ownership=ownership, signals=signals, seconds=seconds, sizes=sizes)

    def seconds_on(self, case: Case, tree: SourceTree, catalogs: CatalogCache | None) -> float:
        """The seconds of stages 1 and 2 for the change of a case, if the tests were those of another tree."""
        parent = run_git(self._repository, "rev-parse", f"{case.commit}^").decode().strip()
        self._store.fill(self._repository, parent)
        began = time.perf_counter()
        with collector_paused():
            diff = git_diff(self._repository, parent, case.commit)
            with GitTree(self._repository, parent) as base, GitTree(self._repository, case.commit) as head:
                change = analyse(diff, base, head)
            link_tests(change, build_catalog(tree, catalogs), case.title, known=Known(CoChange(self._store, parent)))
            return time.perf_counter() - began


def _replay(
    case: Case,
    change: ChangeSet,
    message: str,
    *,
    ownership: Ownership,
    signals: FileSignals,
    seconds: float,
    sizes: Mapping[str, int],
) -> Replay:
    reasons: dict[str, list[Reason]] = {}
    rules: dict[str, float] = {}
    for candidate in ownership.candidates:
        said = [reason for reason in candidate.reasons if reason.rule != WEIGHED]
        reasons.setdefault(candidate.test.file, []).extend(said)
        doubt = math.prod(1.0 - (reason.score or 0.0) for reason in said)
        file = candidate.test.file
        rules[file] = max(rules.get(file, 0.0), round(1.0 - doubt, 4) + candidate.must_run)
    sure = Counter(candidate.test.file for candidate in ownership.candidates if candidate.must_run)
    joined = {path: with_rules(found, reasons.get(path, ())) for path, found in signals.items()}
    return Replay(
        files={path: {name: one.value for name, one in found.items()} for path, found in joined.items()},
        rules=rules,
        must_run={path: round(sure[path] / sizes[path], 6) for path in sorted(sure)},
        changed=list(dict.fromkeys(path for file in change.files for path in file.paths)),
        message=message,
        seconds=round(seconds, 3),
        evidence={
            path: {name: one.evidence for name, one in found.items()}
            for path, found in joined.items()
            if case.broke(path)
        },
    )


def _text_of_selector() -> str:
    """A digest of the code that a replay depends on."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for file in _sources():
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _sources() -> Iterator[Path]:
    for room in ("catalog", "change", "history", "ownership"):
        yield from sorted(
            path for path in (SELECTOR / room).glob("*.py") if path.name not in ("training.py", "model.py")
        )
