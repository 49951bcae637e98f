"""What stage 3 is worth at a budget in seconds.

    python -m tests.benchmarks.triage_oracle --history GIT_DIR --cases FILE --times FILE [--limit N] [--seeds N]

Every case of tiers A and A2, a real change that broke tests, goes through stages 1 and 2 with the history before it,
and then through stage 3 without a model, and with a model over HTTP that answers from the ground truth, at random, and
the opposite of the truth. Each outcome is cut to the same shares of the seconds of all tests. Printed are the shares of
the failing tests in the plans (of all tests of a file where only that is known), the paired differences to stage 3
switched off with their bootstrap intervals, seconds, turns, tool calls and tokens: for the cases in which stage 3 is
asked, and for all; first of what stage 3 keeps alone, then as plans are made, with what it puts off. Exits with 1 when
a must-run test is lost, or when a model that knows nothing costs more than a point of recall. Answers are a function of
the case, so a second run prints the same. A case takes half a minute.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from selector.catalog import Catalog, CatalogCache, CatalogFile, build_catalog
from selector.change import ChangeSet, analyse
from selector.collector import collector_paused
from selector.cut import Ground
from selector.cut.budget import within
from selector.history import CoChange, CommitStore
from selector.known import Known
from selector.ownership import Ownership, link_tests
from selector.ownership.widening import widen, widening_reasons
from selector.trees import GitTree, TreeError, git_diff, run_git
from selector.triage import AnthropicClient, OpenAiClient, Sources, triage
from selector.types import BaseTest, Candidate, Stage, StageResult
from tests.benchmarks.selection_cases import TIERS, Case, read_cases
from tests.benchmarks.triage_oracle_figures import BUDGETS, OFF, Figures, Judged, Plan, broken_tests, faults, recall
from tests.benchmarks.triage_oracle_figures import table as lines_of
from tests.benchmarks.triage_oracle_times import EvenDurations, TestTimes, read_times
from tests.selector.triage.model_server import Heard, ModelServer, Says

SEEDS = 3
#: Says whether a test, class or file should run, by its name.
Judgement = Callable[[str], bool]


@dataclass(frozen=True)
class Prepared:
    """One case as stage 3 gets it. `widened` is empty unless every test runs, and then nobody is asked."""

    case: Case
    change: ChangeSet
    catalog: Catalog
    ownership: Ownership
    widened: tuple[str, ...]
    broken: Sequence[frozenset[BaseTest]]
    durations: EvenDurations
    tree: GitTree


def main() -> int:
    """Print the table."""
    wanted = _arguments()
    times = read_times(wanted.times)
    cases = read_cases(wanted.cases)[: wanted.limit]
    labels = _labels(wanted.cases)
    figures = Figures()
    wanted.work.mkdir(parents=True, exist_ok=True)
    catalogs = CatalogFile(wanted.work / "catalogs", lambda note: _note(f"catalogs: {note}"), limit=1 << 30)
    with CommitStore(wanted.work / "history.sqlite") as store:
        for case in cases:
            try:
                for prepared in _prepared(wanted.history, case, labels[case.commit], (catalogs, store, times)):
                    _judge(prepared, figures, wanted.wire, wanted.seeds)
            except TreeError as error:
                _note(f"{case.name}: left out: {error}")
    return _report(figures)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.triage_oracle", description="what a model in stage 3 is worth"
    )
    parser.add_argument("--history", type=Path, required=True, help="a bare git repository with the commits")
    parser.add_argument("--cases", type=Path, required=True, help="JSON lines of cases")
    parser.add_argument("--times", type=Path, required=True, help="test-times.json of pytorch/test-infra")
    parser.add_argument("--limit", type=int, help="only the first N cases")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"random models (default {SEEDS})")
    parser.add_argument("--wire", choices=("openai", "anthropic"), default="openai")
    default = Path(tempfile.gettempdir()) / "selection-benchmark"
    parser.add_argument("--work", type=Path, default=default, help=f"keeps what was read (default {default})")
    return parser.parse_args()


def _labels(file: Path) -> Mapping[str, Sequence[str]]:
    """What broke, by commit, as finely as the cases know it."""
    cases = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    return {case["broke_commit"]: case["failing_tests"] for case in cases if case["tier"] in TIERS}


def _prepared(
    history: Path, case: Case, labels: Sequence[str], read: tuple[CatalogCache, CommitStore, TestTimes]
) -> Iterator[Prepared]:
    """The case, unless the tree has none of what broke. Raises `TreeError`."""
    catalogs, store, times = read
    parent = run_git(history, "rev-parse", f"{case.commit}^").decode().strip()
    message = run_git(history, "log", "-1", "--format=%B", case.commit).decode("utf-8", errors="replace")
    store.fill(history, parent)
    with GitTree(history, parent) as base, GitTree(history, case.commit) as head, collector_paused():
        change = analyse(git_diff(history, parent, case.commit), base, head)
        catalog = build_catalog(head, catalogs)
        broken = broken_tests(labels, catalog)
        if not broken:
            _note(f"{case.name}: left out: the tree has none of {', '.join(labels)}")
            return
        ownership = link_tests(change, catalog, message, known=Known(history=CoChange(store, parent)))
        widened = widening_reasons(change, ownership.unlinked)
        if not ownership.candidates:
            widened = (*widened, "no test could be tied to the change")
        yield Prepared(case, change, catalog, ownership, widened, broken, times.durations(catalog), head)


def _judge(prepared: Prepared, figures: Figures, wire: str, seeds: int) -> None:
    name = prepared.case.name
    without = _outcome(prepared, _triaged(prepared, None, wire)[0])
    figures.add(OFF, name, without)
    for model, judgement in judgements(prepared.case.commit, prepared.broken, seeds):
        if prepared.widened:
            figures.add(model, name, without)
            continue
        judged = _outcome(prepared, *_triaged(prepared, judgement, wire))
        figures.add(model, name, judged)
        if judged.turns:
            figures.asked.add(name)
    shown = {model: rows[name][0].plans[0.10].recall for model, rows in figures.rows.items()}
    _note(f"{name}: " + ("widened, " if prepared.widened else "") + ", ".join(f"{m} {r:.2f}" for m, r in shown.items()))


def judgements(commit: str, broken: Sequence[frozenset[BaseTest]], seeds: int) -> Iterator[tuple[str, Judgement]]:
    """The models of a case by name. What is asked about is broken when one of its tests is."""
    names = {name for tests in broken for it in tests for name in (it.file, f"{it.file}::{it.cls}", str(it))}

    def dice(seed: int) -> Judgement:
        return lambda name: bool(hashlib.sha256(f"{seed} {commit} {name}".encode()).digest()[0] % 2)

    yield "oracle", lambda name: name in names
    for seed in range(seeds):
        yield "random", dice(seed)
    yield "inverted", lambda name: name not in names


def _triaged(prepared: Prepared, judgement: Judgement | None, wire: str) -> tuple[StageResult, ModelServer | None]:
    if prepared.widened:
        every = widen(prepared.catalog, prepared.ownership.candidates, prepared.widened)
        return StageResult(Stage.TRIAGE, every, ()), None
    asked = (prepared.change, prepared.ownership.candidates, prepared.catalog)
    title = prepared.case.title
    if judgement is None:
        return triage(*asked, title=title), None
    server = ModelServer(lambda heard: answer(heard, judgement))
    with server.serving() as url, collector_paused():
        client = (AnthropicClient if wire == "anthropic" else OpenAiClient)(url, "scripted", "", 60.0)
        try:
            return triage(*asked, title=title, llm=client, sources=Sources(prepared.tree)), server
        finally:
            client.close()


def answer(heard: Heard, judgement: Judgement) -> Says:
    """One look around, as a model would take, and then a verdict about every candidate."""
    if heard.may_call and not heard.results:
        return Says(calls=(("test_history", {"test": "t1"}), ("diff_hunk", {"file": "f1"})))
    offered = json.loads(heard.question.split("\n")[1])["candidates"]
    verdicts = [
        {
            "id": entry["id"],
            "verdict": "run" if judgement(name_of(entry["test"])) else "defer",
            "evidence": ["f1"],
            "reason": "scripted",
        }
        for entry in offered
    ]
    return Says(json.dumps({"verdicts": verdicts}))


def name_of(label: str) -> str:
    """A test, class or file as the question names it, without how many tests it stands for."""
    return label.partition(" (")[0]


def _outcome(prepared: Prepared, result: StageResult, server: ModelServer | None = None) -> Judged:
    considered = (*result.kept, *result.dropped)
    ground = Ground(prepared.catalog, None, considered, prepared.ownership.probabilities, prepared.durations)
    must = {it.test for it in prepared.ownership.candidates if it.must_run}
    plans, filled = (
        {share: _plan(prepared, ground, given, must, share) for share in BUDGETS} for given in (result.kept, considered)
    )
    heard = server.heard if server is not None else []
    return Judged(
        plans={share: plan for share, (plan, _) in plans.items()},
        filled={share: plan for share, (plan, _) in filled.items()},
        lost=sum(lost for _, lost in (*plans.values(), *filled.values())),
        turns=len(heard),
        calls=len(heard[-1].results) if heard else 0,
        tokens=sum(len(json.dumps(body)) for body in server.bodies) // 4 if server is not None else 0,
    )


def _plan(
    prepared: Prepared, ground: Ground, given: Sequence[Candidate], must: set[BaseTest], share: float
) -> tuple[Plan, int]:
    """The plan, and how many must-run tests it lacks."""
    planned = {it.test for it in within(share * prepared.durations.total, given, ground).kept}
    lost = len(must - planned)
    seconds = ground.seconds.total(planned) / prepared.durations.total
    return Plan(recall(prepared.broken, planned), 1 - lost / len(must) if must else 1.0, seconds), lost


def _report(figures: Figures) -> int:
    every = list(figures.rows.get(OFF, {}))
    asked = [case for case in every if case in figures.asked]
    for filled, how in ((False, "what stage 3 keeps, alone"), (True, "as planned, with what it puts off")):
        for cases, which in ((asked, "in which stage 3 is asked"), (every, "in all, with those that run everything")):
            if cases:
                _say(f"\n{how}, {len(cases)} cases {which}")
                for line in lines_of(figures, cases, filled=filled):
                    _say(line)
    wrong = list(faults(figures, asked))
    for fault in wrong:
        _say(f"fault: {fault}")
    return 1 if wrong or not asked else 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
