"""How `relay submit` goes: hand over, report the start when it is one, follow, report the end whatever it is.

A relay takes an end only after a start, so the start is always reported first, also by a run that never began.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import Any

import typer

from relay.backend import reporting
from relay.backend.actions import job_of, tell_outputs, token_source
from relay.backend.envelope import Envelope
from relay.backend.reporting import Job, Report, callback_body, counts, timestamp
from relay.backend.sending import Heard, NotHeard, Reporter
from relay.cli import submit_text
from relay.cli.exits import ExitCode
from relay.cli.output import Output, one_line
from relay.cli.report import RED, headline, is_red
from relay.client import FINAL_STATES, ApiClient
from relay.failures import Failure
from relay.following import follow
from relay.views import Conclusion, RunState, RunSummary, Verdict

#: Verdicts that count as skipped in a report: nothing was asked of the test, or nothing was answered by it.
_SKIPPED = frozenset({Verdict.KNOWN_FAILURE, Verdict.UNSUPPORTED, Verdict.INFRA})
_STRICT = "RELAY_CRCR_STRICT_COMPAT"


class BadEvent(Failure):
    """There is no dispatch where one was looked for."""

    code = "bad_event"


@dataclass
class JobReporter:
    """Tells one relay of one job. `told_start`: the relay heard that the job began, so it takes an end now."""

    sender: Reporter
    job: Job
    envelope: Envelope | None
    told_start: bool = False

    def start(self, at: datetime | None = None) -> Heard:
        """Report that the job runs, once."""
        self.told_start = True
        return self._send(Report("in_progress", started_at=timestamp(at) if at else None))

    def end(self, report: Report) -> Heard:
        """Report how the job ended."""
        return self._send(report)

    def close(self) -> None:
        """Close its connections."""
        self.sender.close()

    def _send(self, report: Report) -> Heard:
        return self.sender.send(callback_body(report, self.job, envelope=self.envelope, now=datetime.now(UTC)))


def reporter_of(envelope: Envelope, callback_url: str, job_name: str) -> JobReporter | None:
    """Who reports this job, None when nobody wants to hear of it. Raises `Failure` before anything has been done."""
    if not callback_url:
        return None
    return JobReporter(Reporter(callback_url, token_source(os.environ)), job_of(os.environ, name=job_name), envelope)


@dataclass
class Submitting:
    """One submission, from the dispatch to the exit code."""

    client: ApiClient
    out: Output
    envelope: Envelope
    reporter: JobReporter | None

    def go(self, *, wait: bool, results: Path | None, timeout_s: float | None, exit_status: bool) -> None:
        """Raises `typer.Exit` for ends that have an exit code of their own."""
        with _Ending() as ending:
            run = self._submit(report=wait)
            if run is None or not wait:
                return
            ended = self._follow(run, timeout_s, ending)
            ending.quiet()
            self._finish(ended, results, exit_status=exit_status)

    def _submit(self, *, report: bool) -> RunSummary | None:
        """The run that the dispatch led to. None: it asks for none, and the relay was told so."""
        answer = self.client.submit(self.envelope.echo)
        if self.out.as_json:
            self.out.data({"submission": answer})
        if answer.run is None:
            self._say(submit_text.nothing_to_run(answer.note))
            if report:
                self._end(Report("completed", "skipped"))
            return None
        self._say(submit_text.submitted(answer.run.id, answer.repeated))
        self._say(answer.run.url)
        return answer.run

    def _follow(self, run: RunSummary, timeout_s: float | None, ending: _Ending) -> RunSummary:
        """The run as it ended. However this stops, the relay is told an end."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        try:
            ending.listen()
            for event in follow(self.client, run.id, deadline=deadline):
                self._say(f"{event.at.isoformat()}  {one_line(event.text, 1_000)}")
                self._start_when_started(run.id)
        except KeyboardInterrupt:
            self.client.cancel(run.id)
            self.out.note(submit_text.interrupted(run.id))
            self._end(Report("completed", "cancelled", artifact_url=run.url))
            raise
        except Failure:
            self._end(Report("completed", "neutral", artifact_url=run.url))
            raise
        ended = self.client.run(run.id).run
        if ended.state in FINAL_STATES:
            return ended
        self.client.cancel(run.id)
        self.out.note(submit_text.gave_up(run.id, timeout_s or 0))
        self._end(Report("completed", "timed_out", artifact_url=run.url))
        raise typer.Exit(ExitCode.PENDING)

    def _start_when_started(self, run_id: int) -> None:
        if self.reporter is None or self.reporter.told_start:
            return
        started_at = self.client.run(run_id).run.started_at
        if started_at is not None:
            self._start(self.reporter, started_at)

    def _start(self, reporter: JobReporter, at: datetime | None = None) -> None:
        """A lost start is no reason to stop: the tests run, and the end will say so."""
        try:
            show_heard(self.out, reporter.start(at), "in_progress")
        except NotHeard as error:
            self.out.note(submit_text.lost("in_progress", error.message))

    def _finish(self, run: RunSummary, results: Path | None, *, exit_status: bool) -> None:
        counted = counts_of(run.verdicts)
        if results is not None:
            results.write_text(json.dumps(counted) + "\n", encoding="utf-8")
        conclusion = conclusion_of(run)
        tell_outputs(os.environ, {"conclusion": conclusion, "run-url": run.url, "test-results": json.dumps(counted)})
        if self.out.as_json:
            self.out.data({"run": run})
        else:
            self.out.say(headline(self.out, run))
        self._end(
            Report(
                "completed",
                conclusion,
                test_results=counted,
                failed_tests=_failed_tests(self.client, run.id),
                artifact_url=run.url,
            )
        )
        if exit_status and is_red(run):
            raise typer.Exit(ExitCode.RED)

    def _end(self, report: Report) -> None:
        """Raises `NotHeard`: an end that nobody heard must not look like success."""
        if self.reporter is None:
            return
        if not self.reporter.told_start:
            self._start(self.reporter)
        show_heard(self.out, self.reporter.end(report), report.status)

    def _say(self, line: str) -> None:
        if not self.out.as_json:
            self.out.say(line)


def report_once(
    out: Output, envelope: Envelope | None, *, callback_url: str, job_name: str, check_run_id: str, **told: str
) -> None:
    """One report by itself. Raises `BadReport` before anything is sent, `NotHeard` when it did not arrive."""
    report = Report(
        told["status"],
        told["conclusion"] or None,
        test_results=counts(told["test_results"]),
        artifact_url=told["artifact_url"],
    )
    body = callback_body(
        report,
        job_of(os.environ, name=job_name, check_run_id=check_run_id),
        envelope=envelope,
        delivery_id=told["delivery_id"],
        event_type=told["event_type"],
        now=datetime.now(UTC),
        strict=os.environ.get(_STRICT, "") in {"1", "true"},
    )
    sender = Reporter(callback_url, token_source(os.environ))
    try:
        show_heard(out, sender.send(body), report.status)
    finally:
        sender.close()


def show_heard(out: Output, heard: Heard, status: str) -> None:
    """Say what the relay made of a report. One that it ignores is a fault of the set-up, which GitHub is to show."""
    if out.as_json:
        out.data({"status": status, "ignored": heard.ignored, "repeated": heard.repeated})
    if heard.ignored:
        warning = submit_text.ignored(heard.reason)
        out.note(f"::warning::{warning}" if os.environ.get("GITHUB_ACTIONS") else warning)
    elif not out.as_json:
        out.note(submit_text.reported(status, heard.repeated))


def counts_of(verdicts: Mapping[Verdict, int]) -> Mapping[str, int]:
    """The counts that a report has, from a run's verdicts."""
    failed = sum(count for verdict, count in verdicts.items() if verdict in RED)
    skipped = sum(count for verdict, count in verdicts.items() if verdict in _SKIPPED)
    total = sum(verdicts.values())
    return {"passed": total - failed - skipped, "failed": failed, "skipped": skipped, "total": total}


def conclusion_of(run: RunSummary) -> str:
    """The conclusion in GitHub's words. A run that our own service failed says nothing about the change."""
    if run.state is RunState.CANCELLED:
        return "cancelled"
    return str(run.conclusion or Conclusion.NEUTRAL)


def _failed_tests(client: ApiClient, run_id: int) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    for verdict in RED:
        if room := reporting.FAILED_TESTS_CAP - len(found):
            page = client.tests(run_id, verdict=verdict, limit=room)
            found += [
                {"name": test.id, "classname": test.file, "message": test.detail, "duration": test.duration_s}
                for test in page.tests
            ]
    return found


class _Ending:
    """The end of a job from outside: CI systems send SIGINT, then SIGTERM. Until `listen` a signal is only remembered,
    so that none comes between opening a run and knowing of it; then it interrupts like Ctrl-C."""

    def __init__(self) -> None:
        self._asked = False
        self._listening = False

    def __enter__(self) -> _Ending:
        self._before = {number: signal.signal(number, self._take) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def listen(self) -> None:
        """Interrupt from now on, at once if that was asked before."""
        self._listening = True
        if self._asked:
            raise KeyboardInterrupt

    def quiet(self) -> None:
        """Interrupt no more: what is going on now is the end."""
        self._listening = False

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self._listening:
            self._listening = False
            raise KeyboardInterrupt
        self._asked = True
