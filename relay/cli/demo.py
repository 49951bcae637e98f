"""`relay demo`: the whole way of one upstream change on this machine, from a signed webhook to the verdict.

It plays the two parts that are outside a deployment, the upstream repository and GitHub, and is otherwise a reader of
the service it starts. `--once` compares the verdict with the designed one.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import demo_text
from relay.cli.exits import ExitCode
from relay.cli.options import JsonOption
from relay.cli.output import Output

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.demo.repository import UpstreamChange
    from relay.demo.webhook import SignedWebhook
    from relay.machine.embedded import EmbeddedService
    from relay.settings import RelaySettings
    from relay.views import RunDetail, RunSummary, TestView

_RUN_APPEARS_S = 30.0
_PAGE = 500


def demo(
    *,
    once: Annotated[
        bool, typer.Option("--once", help="Stop when the run has ended; exit 0 when it is as designed.")
    ] = False,
    upstream: Annotated[Path | None, typer.Option(help="A PyTorch git checkout to take the change from.")] = None,
    base: Annotated[str, typer.Option(help="With --upstream: the revision the change starts from.")] = "HEAD~1",
    head: Annotated[str, typer.Option(help="With --upstream: the revision under test.")] = "HEAD",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Show one upstream change go all the way: webhook, four-stage selection, tests on the device, verdict.

    Without --upstream the change is a real one made on the spot: it drops the device from two constants of
    torch.unravel_index, which nothing notices on CPU. Without --once the page stays up until Ctrl-C.
    """
    from relay.cli.foreground import log_to_stderr
    from relay.machine.embedded import EmbeddedService

    out = Output(as_json)
    log_to_stderr(usual=logging.WARNING)  # what happens is shown here in another way
    state_dir = _state_dir()
    out.note(demo_text.preparing(upstream))
    change = _change(state_dir, upstream, base, head)
    with EmbeddedService(_settings(state_dir, change), port=port) as service:
        log_to_stderr(service.settings, usual=logging.WARNING)
        out.note(demo_text.serving(service.url))
        run, tests = _play(service, change, out)
        problems = _problems(run, tests) if upstream is None else []
        if as_json:
            out.data({"run": run, "problems": problems})
        _say_how_it_went(out, run, problems, designed=upstream is None)
        if not once:
            _stay(out, service.url)
    raise typer.Exit(ExitCode.FAILED if problems or not _ended_by_itself(run) else ExitCode.OK)


def _state_dir() -> Path:
    from relay.cli.connect import load_settings
    from relay.machine.state_folder import demo_folder

    return demo_folder(load_settings().state_dir)


def _change(state_dir: Path, upstream: Path | None, base: str, head: str) -> UpstreamChange:
    from relay.demo.repository import existing_change, prepare_demo_repository

    if upstream is not None:
        return existing_change(upstream.expanduser(), base, head)
    return prepare_demo_repository(state_dir / "upstream")


def _settings(state_dir: Path, change: UpstreamChange) -> RelaySettings:
    """The person's own settings with a state folder apart, so that a demo never mixes with a real record."""
    from relay.cli.connect import load_settings
    from relay.settings import RelaySettings

    given = load_settings()
    kept = {name: getattr(given, name) for name in given.model_fields_set - {"state_dir", "database_url", "broker_url"}}
    return RelaySettings(**{**kept, "state_dir": state_dir, "upstream_clone_url": str(change.repository)})


def _play(service: EmbeddedService, change: UpstreamChange, out: Output) -> tuple[RunSummary, list[TestView]]:
    from relay.cli.screen import follow_on_screen
    from relay.demo.webhook import pull_request_opened

    secret = service.settings.webhook_secret
    assert secret is not None  # noqa: S101 - an embedded service has every secret filled in
    webhook = pull_request_opened(change, service.settings.upstream_repo, secret.get_secret_value())
    with client_of(service) as client:
        before = _newest(client)
        _deliver(service.url, webhook)
        out.note(demo_text.delivered(webhook.headers["X-GitHub-Delivery"]))
        detail = follow_on_screen(client, _run_after(client, before), out)
        _show_verdict(client, detail, out)
        return detail.run, _all_tests(client, detail.run.id)


def client_of(service: EmbeddedService) -> ApiClient:
    """A reader with the service's own token, which RELAY_READ_ACCESS may ask for."""
    from relay.client import ApiClient

    token = service.settings.operator_token
    return ApiClient(service.url, operator_token=token.get_secret_value() if token else "")


def _show_verdict(client: ApiClient, detail: RunDetail, out: Output) -> None:
    from relay.cli.report import failures_of, headline, show_failures, show_notes, show_verdicts

    failures, total = failures_of(client, detail.run.id)
    show_failures(out, detail.run, failures, total)
    show_notes(out, detail)
    show_verdicts(out, detail.run)
    out.say()
    out.say(headline(out, detail.run))
    out.say(detail.run.url)


def _deliver(url: str, webhook: SignedWebhook) -> None:
    import httpx

    from relay.failures import Failure

    reply = httpx.post(f"{url}/github/webhook", content=webhook.body, headers=webhook.headers, trust_env=False)
    if reply.status_code != httpx.codes.OK:
        raise Failure(demo_text.refused(reply.status_code, reply.text), demo_text.refused_hint())


def _newest(client: ApiClient) -> int:
    runs = client.runs(limit=1).runs
    return runs[0].id if runs else 0


def _run_after(client: ApiClient, before: int) -> int:
    """The run the webhook led to: the service answers the webhook before it makes the run."""
    from relay.failures import Failure

    deadline = time.monotonic() + _RUN_APPEARS_S
    while time.monotonic() < deadline:
        if (newest := _newest(client)) > before:
            return newest
        time.sleep(0.1)
    raise Failure(demo_text.no_run(_RUN_APPEARS_S), demo_text.no_run_hint())


def _all_tests(client: ApiClient, run_id: int) -> list[TestView]:
    page = client.tests(run_id, limit=_PAGE)
    tests = list(page.tests)
    while (cursor := client.cursor_of(page)) is not None:
        page = client.tests(run_id, limit=_PAGE, cursor=cursor)
        tests.extend(page.tests)
    return tests


def _problems(run: RunSummary, tests: list[TestView]) -> list[str]:
    from relay.demo.scenario import differences

    return differences(run, tests)


def _ended_by_itself(run: RunSummary) -> bool:
    from relay.views import RunState

    return run.state is RunState.FINISHED


def _say_how_it_went(out: Output, run: RunSummary, problems: list[str], *, designed: bool) -> None:
    out.note("")
    if not _ended_by_itself(run):
        out.note(demo_text.not_finished(run.state, run.headline))
    elif designed:
        out.note(demo_text.as_designed() if not problems else demo_text.not_as_designed(problems))


def _stay(out: Output, url: str) -> None:
    out.note(demo_text.stays(url))
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(3600)
