"""What stage 3 is worth: `python -m tests.benchmarks.triage_oracle --history GIT_DIR --cases FILE`.

Real changes that broke tests go through stages 1 and 2, and then through stage 3 four times: without a model, and with
a model over HTTP that answers from the ground truth, at random, and the opposite of the truth. The order that comes out
is cut at the same number of test files, or of tests, each time. Printed are the shares of broken files, or of their
tests, inside the cut, the mean over the cases, and how many must-run tests were lost, which has to be none. A test
counts as broken when its file does: the cases know no more. Answers are a function of the case, so a second run prints
the same.
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
from selector.ownership import link_tests
from selector.trees import GitTree, TreeError, git_diff, run_git
from selector.triage import AnthropicClient, LlmClient, OpenAiClient, Sources, triage
from selector.types import Candidate, StageResult
from tests.benchmarks.selection_cases import Case, read_cases
from tests.selector.triage.model_server import Heard, ModelServer, Says

CUTS = (0.01, 0.02, 0.05, 0.10, 0.25)
UNITS = ("files", "tests")
#: Share by cut, for each unit.
Recalls = Mapping[str, Mapping[float, float]]
#: Says what is to become of a test, by its file and its whole name.
Judgement = Callable[[str, str], str]


@dataclass(frozen=True)
class Prepared:
    """One case as stage 3 gets it."""

    case: Case
    change: ChangeSet
    catalog: Catalog
    candidates: Sequence[Candidate]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--history", type=Path, required=True, help="a bare git repository with the commits")
    parser.add_argument("--cases", type=Path, required=True, help="JSON lines of cases")
    parser.add_argument("--limit", type=int, default=12, help="so many cases, spread over the file")
    parser.add_argument("--wire", choices=("openai", "anthropic"), default="openai")
    wanted = parser.parse_args()
    cases = read_cases(wanted.cases)
    chosen = cases[:: max(1, len(cases) // wanted.limit)][: wanted.limit]
    totals: dict[str, list[Recalls]] = {}
    lost = dict.fromkeys(("off", "oracle", "random", "inverted"), 0)
    with tempfile.TemporaryDirectory() as folder:
        cache = CatalogFile(Path(folder) / "catalog", lambda note: print(note, file=sys.stderr))
        for case in chosen:
            try:
                results = dict(_judged(wanted.history, case, cache, wanted.wire))
            except TreeError as error:
                print(f"{case.name}: left out: {error}", file=sys.stderr)
                continue
            for name, (recalls, gone) in results.items():
                totals.setdefault(name, []).append(recalls)
                lost[name] += gone
            print(f"{case.name}: {_line({name: recalls for name, (recalls, _) in results.items()})}", file=sys.stderr)
    _report(totals, lost)
    return 0 if not any(lost.values()) else 1


def _line(results: Mapping[str, Recalls]) -> str:
    return ", ".join(f"{name} {recalls['tests'][0.10]:.2f}" for name, recalls in results.items())


def _report(totals: Mapping[str, Sequence[Recalls]], lost: Mapping[str, int]) -> None:
    for unit in UNITS:
        print(f"{unit:<10}{'cases':>6}" + "".join(f"{f'@{cut:.0%}':>8}" for cut in CUTS) + f"{'must-run lost':>15}")
        for name, rows in totals.items():
            means = "".join(f"{sum(row[unit][cut] for row in rows) / len(rows):>8.3f}" for cut in CUTS)
            print(f"{name:<10}{len(rows):>6}{means}{lost[name]:>15}")


def _judged(history: Path, case: Case, cache: CatalogCache, wire: str) -> Iterator[tuple[str, tuple[Recalls, int]]]:
    parent = run_git(history, "rev-parse", f"{case.commit}^").decode().strip()
    message = run_git(history, "log", "-1", "--format=%B", case.commit).decode("utf-8", errors="replace")
    with GitTree(history, parent) as base, GitTree(history, case.commit) as head:
        change = analyse(git_diff(history, parent, case.commit), base, head)
        catalog = build_catalog(head, cache)
        prepared = Prepared(case, change, catalog, link_tests(change, catalog, message).candidates)
        for name, judgement in _judgements(case).items():
            result = _triaged(prepared, judgement, Sources(head), wire)
            yield name, (_recalls(case, catalog, result), _lost(prepared, result))


def _judgements(case: Case) -> Mapping[str, Judgement | None]:
    def truth(file: str, _: str) -> str:
        return "run" if case.broke(file) else "defer"

    def inverted(file: str, _: str) -> str:
        return "defer" if case.broke(file) else "run"

    def dice(_: str, test: str) -> str:
        return ("run", "defer")[hashlib.sha256(f"{case.commit} {test}".encode()).digest()[0] % 2]

    return {"off": None, "oracle": truth, "random": dice, "inverted": inverted}


def _triaged(prepared: Prepared, judgement: Judgement | None, sources: Sources, wire: str) -> StageResult:
    def stage(llm: LlmClient | None) -> StageResult:
        return triage(
            *(prepared.change, prepared.candidates, prepared.catalog),
            title=prepared.case.title,
            llm=llm,
            sources=sources,
        )

    if judgement is None:
        return stage(None)
    server = ModelServer(lambda heard: _answer(heard, judgement))
    with server.serving() as url:
        client = (AnthropicClient if wire == "anthropic" else OpenAiClient)(url, "scripted", "", 60.0)
        try:
            return stage(client)
        finally:
            client.close()


def _answer(heard: Heard, judgement: Judgement) -> Says:
    """One look around, as a model would take, and then a verdict about every candidate."""
    if heard.may_call and not heard.results:
        return Says(calls=(("test_history", {"test": "t1"}), ("diff_hunk", {"file": "f1"})))
    offered = json.loads(heard.question.split("\n")[1])["candidates"]
    verdicts = [
        {
            "id": entry["id"],
            "verdict": judgement(_file_of(entry["test"]), entry["test"]),
            "evidence": ["f1"],
            "reason": "scripted",
        }
        for entry in offered
    ]
    return Says(json.dumps({"verdicts": verdicts}))


def _file_of(label: str) -> str:
    """The file of a test, class or file, as the question names them."""
    return label.partition("::")[0].partition(" (")[0]


def _recalls(case: Case, catalog: Catalog, result: StageResult) -> Recalls:
    """Shares of what is broken among the first of the order, by unit and cut. Files come in the order of their best
    test; what nothing ties to the change comes last, by name."""
    tests = dict.fromkeys((entry.test for entry in catalog), (False, 0.0))
    tests |= {it.test: (it.must_run, it.score) for it in (*result.kept, *result.dropped) if it.test in tests}
    files = dict.fromkeys(catalog.files, (False, 0.0))
    for test, rank in tests.items():
        files[test.file] = max(files[test.file], rank)
    by_test = sorted(tests, key=lambda test: (not tests[test][0], -tests[test][1], test))
    by_file = sorted(files, key=lambda path: (not files[path][0], -files[path][1], path))
    return {
        "files": _shares([case.broke(path) for path in by_file]),
        "tests": _shares([case.broke(test.file) for test in by_test]),
    }


def _shares(broken: Sequence[bool]) -> Mapping[float, float]:
    return {cut: sum(broken[: round(len(broken) * cut)]) / max(1, sum(broken)) for cut in CUTS}


def _lost(prepared: Prepared, result: StageResult) -> int:
    kept = {it.test for it in result.kept}
    return sum(it.must_run and it.test not in kept for it in prepared.candidates)


if __name__ == "__main__":
    sys.exit(main())
