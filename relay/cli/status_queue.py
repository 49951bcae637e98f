"""What `relay status` says of the queues: who waits, in which place and why, and whether one is deep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relay.cli import status_text
from relay.cli.output import Output, one_line

if TYPE_CHECKING:
    from relay.client import ApiClient

#: Of each device, so many are shown.
_SHOWN = 20
_TITLE = 60


def look(client: ApiClient, repo: str | None) -> dict[str, object]:
    """The queues as they are written for programs, without moments: to have waited longer is no change. Nothing of a
    service too old to tell."""
    from relay.client import NotFound

    try:
        devices = client.now().devices
    except NotFound:
        return {}
    return {
        "queues": [
            {
                "device": device.device,
                "waiting": device.queued_total,
                "deep": device.backlog.deep,
                "runs": [
                    {
                        "place": state.place,
                        "id": state.run.id,
                        "title": state.run.title,
                        **(state.waiting.model_dump(mode="json") if state.waiting else {}),
                    }
                    for state in device.queued[:_SHOWN]
                    if repo is None or state.run.repo.lower() == repo.lower()
                ],
            }
            for device in devices
        ]
    }


def show(out: Output, queues: list[object]) -> None:
    """Of each device that has a queue."""
    for queue in queues:
        if isinstance(queue, dict) and queue["waiting"]:
            out.say(status_text.waiting(str(queue["device"]), int(queue["waiting"])))
            if queue["deep"]:
                out.note(status_text.deep(str(queue["device"])))
            out.table(("PLACE", "RUN", "TITLE", "WHY"), [_row(run) for run in queue["runs"]])


def _row(run: dict[str, object]) -> tuple[str, ...]:
    from relay import queue_words
    from relay.queue_views import Waiting

    why = queue_words.why(Waiting.model_validate(run)) if "wait" in run else ""
    return f"{run['place']}", f"{run['id']}", one_line(str(run["title"]), _TITLE), why
