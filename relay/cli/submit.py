"""`relay submit`: a job of the backend's repository hands over what a relay dispatched, waits, and reports back.

`relay callback`: one report by itself, for jobs that do their work without this service.
"""

from __future__ import annotations

from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import submit_text
from relay.cli.options import ExitStatusOption, JsonOption, UrlOption
from relay.cli.output import Output

if TYPE_CHECKING:
    from relay.backend.envelope import Envelope

EventOption = Annotated[
    Path, typer.Option("--event", metavar="FILE", envvar="GITHUB_EVENT_PATH", help="GitHub's event file of this job.")
]
CallbackOption = Annotated[
    str, typer.Option("--callback-url", envvar="CALLBACK_URL", help="Where the dispatching relay wants its reports.")
]
JobOption = Annotated[
    str, typer.Option("--job-name", help="This job's name in its reports; its own in every leg of a matrix.")
]


def submit(
    *,
    event: EventOption,
    wait: Annotated[bool, typer.Option("--wait", help="Follow the run to its end.")] = False,
    test_results: Annotated[
        Path | None, typer.Option(metavar="OUT", help="With --wait: write the counts of passed and failed tests here.")
    ] = None,
    callback_url: CallbackOption = "",
    job_name: JobOption = "",
    timeout: Annotated[
        float | None, typer.Option(min=0, help="With --wait: cancel the run after so many seconds, exit code 8.")
    ] = None,
    exit_status: ExitStatusOption = False,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Hand over another relay's dispatch; with --wait, follow the run; with --callback-url, report it back."""
    from relay.cli.connect import open_operator_client
    from relay.cli.submitting import Submitting, reporter_of

    if not wait and (test_results or callback_url or timeout is not None):
        raise typer.BadParameter(submit_text.needs_wait(), param_hint="--wait")
    envelope = read_event(event)
    reporter = reporter_of(envelope, callback_url, job_name)
    with closing(reporter) if reporter else nullcontext(), open_operator_client(url) as client:
        Submitting(client, Output(as_json), envelope, reporter).go(
            wait=wait, results=test_results, timeout_s=timeout, exit_status=exit_status
        )


def callback(
    *,
    status: Annotated[str, typer.Option(envvar="STATUS", help="in_progress or completed.")],
    conclusion: Annotated[str, typer.Option(envvar="CONCLUSION", help="How a completed job ended.")] = "",
    event: Annotated[
        Path | None, typer.Option(metavar="FILE", envvar="GITHUB_EVENT_PATH", help="GitHub's event file of this job.")
    ] = None,
    client_payload: Annotated[
        str, typer.Option(envvar="CLIENT_PAYLOAD", help="The dispatch itself, instead of --event.")
    ] = "",
    delivery_id: Annotated[
        str, typer.Option(envvar="DELIVERY_ID_OVERRIDE", help="Report by yourself: the tested upstream commit.")
    ] = "",
    event_type: Annotated[
        str, typer.Option(envvar="EVENT_TYPE_OVERRIDE", help="Report by yourself: nightly or periodic.")
    ] = "",
    test_results: Annotated[str, typer.Option(envvar="TEST_RESULTS", help="Counts, as a JSON object.")] = "",
    artifact_url: Annotated[str, typer.Option(envvar="ARTIFACT_URL", help="Where the job's files are.")] = "",
    check_run_id: Annotated[str, typer.Option(envvar="CHECK_RUN_ID", help="The job's own check run.")] = "",
    callback_url: CallbackOption,
    job_name: JobOption = "",
    as_json: JsonOption = False,
) -> None:
    """Report a job to the relay that dispatched it. Takes what GitHub Actions or the CI-neutral names say."""
    from relay.cli.submitting import report_once

    envelope = _dispatch_of(event, client_payload) if not delivery_id else None
    report_once(
        Output(as_json),
        envelope,
        status=status,
        conclusion=conclusion,
        delivery_id=delivery_id,
        event_type=event_type,
        test_results=test_results,
        artifact_url=artifact_url,
        check_run_id=check_run_id,
        callback_url=callback_url,
        job_name=job_name,
    )


def read_event(file: Path) -> Envelope:
    """The dispatch in GitHub's event file. Raises `BadEvent` when there is none."""
    from relay.cli.submitting import BadEvent

    try:
        text = file.read_bytes()
    except OSError as error:
        raise BadEvent(submit_text.unreadable(str(file), error.strerror or ""), submit_text.event_hint()) from error
    return _read(text, str(file))


def _dispatch_of(event: Path | None, client_payload: str) -> Envelope | None:
    """The dispatch that this job answers, None when it was not dispatched: GitHub writes null then."""
    if client_payload.strip() == "null":
        return None
    if client_payload:
        return _read(client_payload.encode(), "CLIENT_PAYLOAD")
    return read_event(event) if event is not None else None


def _read(text: bytes, where: str) -> Envelope:
    from relay.backend.envelope import EnvelopeError, read_envelope
    from relay.cli.submitting import BadEvent

    try:
        return read_envelope(text)
    except EnvelopeError as error:
        raise BadEvent(submit_text.not_a_dispatch(where, str(error)), submit_text.event_hint()) from error
