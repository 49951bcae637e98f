"""The failures of a run within a number of bytes: worst first, each with its reasons, long details cut before a failure
is left out. One answer for people and programs to "what failed, and why was it run"."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from relay.cli import run_text, text
from relay.cli.json_text import to_json
from relay.cli.output import Output, clean, one_line
from relay.cli.report import RED
from relay.client import ApiClient
from relay.contract import Expected, ReasonMessage
from relay.views import RunSummary, TestView, Verdict

#: Failures looked at; past this many their number says more than they do.
_LOOKED_AT = 50
_SHORTEST_DETAIL = 200


@dataclass(frozen=True, slots=True)
class Failed:
    """A failing test and why it was in the plan."""

    test: TestView
    reasons: tuple[ReasonMessage, ...]
    rerun: str

    def as_object(self, detail_bytes: int) -> dict[str, object]:
        """For programs. The detail is cut to so many bytes."""
        test = self.test
        return {
            "id": test.id,
            "verdict": test.verdict,
            "expected": test.expected,
            "manifest": test.provenance,
            "attempts": [f"{it.tree} {it.number}: {it.observation}" for it in test.attempts],
            "detail": _cut(test.detail, detail_bytes),
            "reasons": [{"stage": it.stage, "rule": it.rule, "evidence": it.evidence} for it in self.reasons],
            "rerun": self.rerun,
        }

    def as_lines(self, out: Output, detail_bytes: int) -> list[str]:
        """For people."""
        test = self.test
        lines = ["", f"{out.status(test.verdict or '')}  {one_line(test.id, 1_000)}"]
        lines.append(f"    {one_line(test.expected)} by {one_line(test.rule)} ({one_line(test.provenance)})")
        lines += [f"    {it.stage} {one_line(it.rule)}: {one_line(it.evidence)}" for it in self.reasons]
        lines += [f"    | {line}" for line in clean(_cut(test.detail, detail_bytes), detail_bytes).splitlines()]
        return [*lines, f"    {self.rerun}"]


@dataclass(frozen=True, slots=True)
class Fitting:
    """The failures that fit. `total` counts those that do not as well."""

    run: RunSummary
    failures: tuple[Failed, ...]
    total: int
    detail_bytes: int

    def as_object(self) -> dict[str, object]:
        run = self.run
        return {
            "run": run.id,
            "state": run.state,
            "conclusion": run.conclusion,
            "headline": run.headline,
            "url": run.url,
            "failures": [failed.as_object(self.detail_bytes) for failed in self.failures],
            "total": self.total,
            "left_out": self.total - len(self.failures),
        }


def gather(client: ApiClient, run: RunSummary) -> tuple[list[Failed], int]:
    """The worst failures with their reasons, and how many there are in all."""
    tests: list[TestView] = []
    total = 0
    for verdict in RED:
        page = client.tests(run.id, verdict=verdict, limit=max(1, _LOOKED_AT - len(tests)))
        tests.extend(page.tests)
        total += page.total
    strict = _strict_passes(client, run.id) if run.verdicts.get(Verdict.XPASS) else []
    total += len(strict)
    tests = [*tests, *strict][:_LOOKED_AT]
    reasons = {base: _reasons(client, run.id, base) for base in dict.fromkeys(test.base for test in tests)}
    return [
        Failed(test, reasons[test.base], run_text.rerun_test_command(run.id, shlex.quote(one_line(test.id, 1_000))))
        for test in tests
    ], total


def _strict_passes(client: ApiClient, run_id: int) -> list[TestView]:
    """Tests that pass although their manifest is strict about failing; of the first 500 unexpected passes."""
    passes = client.tests(run_id, verdict=Verdict.XPASS, limit=500).tests
    return [test for test in passes if test.expected is Expected.XFAIL_STRICT]


def _reasons(client: ApiClient, run_id: int, base: str) -> tuple[ReasonMessage, ...]:
    """Why the selection has the base test; nothing for one it did not consider, which runs by lot or in full runs."""
    decisions = client.decisions(run_id, q=base[:200], limit=20).decisions
    return next((decision.reasons for decision in decisions if decision.test == base), ())


def fitting(run: RunSummary, found: Sequence[Failed], total: int, max_bytes: int, *, as_json: bool) -> Fitting:
    """As many failures as fit, with details as long as fit: halved until all do, then failures are left out."""
    detail_bytes = max((len(failed.test.detail.encode()) for failed in found), default=0)
    told = Fitting(run, tuple(found), total, detail_bytes)
    while _size(told, as_json) > max_bytes and detail_bytes > _SHORTEST_DETAIL:
        detail_bytes = max(_SHORTEST_DETAIL, detail_bytes // 2)
        told = Fitting(run, tuple(found), total, detail_bytes)
    while _size(told, as_json) > max_bytes and told.failures:
        told = Fitting(run, told.failures[:-1], total, detail_bytes)
    return told


def show_fitting(out: Output, told: Fitting) -> None:
    """The headline, then each failure; what is left out is said beside."""
    out.say("\n".join(_lines(out, told)))
    if not told.total:
        out.note(run_text.no_failures(told.run.id, told.run.conclusion or told.run.state))
    elif left := told.total - len(told.failures):
        out.note(run_text.left_out(left, told.run.url))
    if told.failures:
        out.note(text.next_step(text.rerun_failed_command(told.run.id)))


def _lines(out: Output, told: Fitting) -> list[str]:
    run = told.run
    first = f"{out.status(run.conclusion or run.state)}  {one_line(run.headline) or f'run {run.id}'}"
    lines = [first, run.url]
    for failed in told.failures:
        lines += failed.as_lines(out, told.detail_bytes)
    return lines


def _size(told: Fitting, as_json: bool) -> int:
    """Bytes on stdout, the last line end included."""
    shown = to_json(told.as_object()) if as_json else "\n".join(_lines(Output(), told))
    return len(shown.encode(errors="replace")) + 1


def _cut(detail: str, size: int) -> str:
    """The first `size` bytes, in whole characters."""
    encoded = detail.encode(errors="replace")
    return detail if len(encoded) <= size else encoded[:size].decode(errors="ignore") + "…"
