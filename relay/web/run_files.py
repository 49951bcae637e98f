"""The files that a run leaves behind, as its page lists them: what is in each, and how much. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from relay.log_views import ShardLogView
from relay.runs.states import FINAL_RUN_STATES
from relay.views import RunDetail
from relay.web import log_words
from relay.web.wording import number


@dataclass(frozen=True, slots=True)
class RunFile:
    """A download. Without an address there is none yet, and `amount` says why."""

    name: str
    what: str
    amount: str
    href: str


def run_files(detail: RunDetail, logs: Sequence[ShardLogView]) -> tuple[RunFile, ...]:
    """All files of a run, in the order in which people want them."""
    run, base = detail.run, f"/api/v1/runs/{detail.run.id}"
    over = run.state in FINAL_RUN_STATES
    results = f"{_tests(run.reported)} of {number(run.planned)}" if run.reported < run.planned else _tests(run.planned)
    considered = detail.kept + detail.dropped
    junit = _tests(run.planned) if over else "when the run is over"
    lines, size = sum(log.lines for log in logs), sum(log.bytes for log in logs)
    amount = f"{log_words.lines(lines)}, {log_words.size(size)}" if lines else "no lines"
    return (
        RunFile("JUnit report", "for tools that read JUnit XML", junit, f"{base}/junit.xml" if over else ""),
        RunFile("Results", "each planned test with its attempts, JSON", results, f"{base}/results.json"),
        RunFile(
            *("Selection", "each considered test with its reasons, JSON"),
            f"{_tests(considered)} considered" if detail.funnel else "when tests are selected",
            f"{base}/selection.json" if detail.funnel else "",
        ),
        RunFile("Log", "of all shards, text", amount, f"{base}/log.txt" if lines else ""),
        RunFile("Log lines", "of all shards, JSON lines", amount, f"{base}/log.jsonl" if lines else ""),
    )


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{number(count)} tests"
