"""`relay status`: is the service well, what is under way, what waits for a person. By HTTP only."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from relay.cli import status_queue, status_text, text, workers_text
from relay.cli.one_run import row_of
from relay.cli.options import JsonOption, RepositoryOption, UrlOption
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.client import ApiClient
    from relay.views import RunState

#: Unfinished runs shown; a service with more of them is told by their number.
_SHOWN = 50


def status(
    *,
    repo: RepositoryOption = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on until Ctrl-C; off a terminal, tell changes only.")
    ] = False,
    interval: Annotated[float, typer.Option(min=0.1, max=3_600, help="With --watch: seconds between looks.")] = 5.0,
    url: UrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how the service is, the runs under way and the newest that ended, and what could not be delivered.

    \b
    Examples:
      relay status
      relay status --watch --repo pytorch/pytorch
      relay status --json --fields under_way.id,under_way.state
    """
    from relay.cli.connect import open_client

    out = Output(as_json)
    with open_client(url) as client:
        seen: dict[str, object] = {}
        while True:
            now = look(client, repo)
            if now != seen:
                if watch and out.is_terminal:
                    out.clear()
                _show(out, now)
            if not watch:
                return
            seen = now
            time.sleep(interval)


def look(client: ApiClient, repo: str | None) -> dict[str, object]:
    """The state of the service, as it is written for programs."""
    from relay.outbox.views import LetterState
    from relay.views import RunState

    health = client.health()
    pages = {state: client.runs(state=state, repo=repo, limit=_SHOWN) for state in _under_way()}
    ended = client.runs(state=RunState.FINISHED, repo=repo, limit=1).runs
    dead = client.letters(state=LetterState.DEAD, limit=1).counts
    return {
        "url": client.base_url,
        "version": client.version().get("version"),
        "health": health.model_dump(mode="json"),
        "under_way": [run.model_dump(mode="json") for page in pages.values() for run in page.runs],
        "more_under_way": any(page.next_before is not None for page in pages.values()),
        "newest_ended": ended[0].model_dump(mode="json") if ended else None,
        "dead_deliveries": dead.get(LetterState.DEAD, 0),
        **_workers(client),
        **status_queue.look(client, repo),
    }


def _workers(client: ApiClient) -> dict[str, object]:
    """Who works and waits, without moments: a heartbeat is no change. Nothing of a service too old to tell."""
    from relay.cli.worker_checks import inability
    from relay.client import NotFound

    try:
        found = client.workers()
    except NotFound:
        return {}
    told = {"name", "device", "state", "run_id"}
    return {
        "workers": [worker.model_dump(mode="json", include=told) for worker in found.workers],
        "workers_unable": [sentence for worker in found.workers if (sentence := inability(worker))],
        "worker_differences": [difference.model_dump(mode="json") for difference in found.differences],
    }


def _under_way() -> tuple[RunState, ...]:
    """The states before the end, the furthest first."""
    from relay.views import RunState

    return (RunState.RUNNING, RunState.PLANNED, RunState.SELECTING, RunState.RECEIVED)


def _show(out: Output, now: dict[str, object]) -> None:
    if out.as_json:
        out.data(now)
        return
    from relay.views import Health, RunSummary

    health = Health.model_validate(now["health"])
    out.say(
        status_text.service(
            out.status(health.status), str(now["url"]), str(now["version"]), ", ".join(health.devices) or health.device
        )
    )
    if health.manifest_problem:
        out.say(status_text.manifest_problem(one_line(health.manifest_problem, 500)))
    if "workers" in now:
        _show_workers(out, now)
    runs = [RunSummary.model_validate(run) for run in _list(now["under_way"])]
    out.say(status_text.under_way(len(runs), more=bool(now["more_under_way"])))
    out.table(("RUN", "STATE", "CHANGE", "TITLE", "TESTS", "CREATED"), [row_of(out, run) for run in runs])
    status_queue.show(out, _list(now.get("queues")))
    if now["newest_ended"] is not None:
        run = RunSummary.model_validate(now["newest_ended"])
        out.say(status_text.newest_ended(run.id, out.status(run.conclusion or run.state), one_line(run.headline, 200)))
    if dead := now["dead_deliveries"]:
        out.say(status_text.dead_deliveries(int(str(dead))))
        out.note(text.next_step("relay delivery list --state dead"))


def _show_workers(out: Output, now: dict[str, object]) -> None:
    from relay.cli.worker_checks import sentence_of
    from relay.now_views import WorkerDifference

    out.say(
        workers_text.counted([str(worker["state"]) for worker in _list(now["workers"]) if isinstance(worker, dict)])
    )
    for sentence in _list(now["workers_unable"]):
        out.note(str(sentence))
    for found in _list(now["worker_differences"]):
        out.note(sentence_of(WorkerDifference.model_validate(found)))


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
