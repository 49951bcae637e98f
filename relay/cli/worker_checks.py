"""What `relay doctor` says of the workers that a service knows: whether one is there, and what differs between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from relay.cli import workers_text as text
from relay.cli.check import Check
from relay.cli.output import one_line
from relay.failures import Failure

if TYPE_CHECKING:
    from relay.now_views import WorkerDifference, WorkerNow, WorkersView

_SENTENCE = 500


def check_workers(url: str | None) -> Check:
    from relay.cli.connect import open_client
    from relay.client import NotFound, Unreachable

    try:
        with open_client(url) as client:
            found, own = client.workers(), str(client.version().get("version", ""))
    except NotFound:
        return Check("workers", "ok", text.too_old())
    except Unreachable:  # why is said of the service
        return Check("workers", "warn", text.not_asked())
    except Failure as failure:
        return Check("workers", "warn", failure.message, failure.hint)
    return judged(found, own)


def judged(found: WorkersView, own_version: str) -> Check:
    """`own_version` is the service's."""
    there = [worker for worker in found.workers if worker.state in {"working", "idle"}]
    said = text.counted([worker.state for worker in found.workers])
    if unable := [sentence for worker in found.workers if (sentence := inability(worker))]:
        return Check("workers", "warn", "; ".join([said, *unable]), text.unable_hint())
    if not there:
        silent = any(worker.state == "silent" for worker in found.workers)
        return Check("workers", "warn", said, text.only_silent_hint() if silent else text.none_connected_hint())
    others = [worker.name for worker in there if worker.about and worker.about.version != own_version]
    troubles = [sentence_of(difference) for difference in found.differences]
    if others and not any(difference.trait == "relay version" for difference in found.differences):
        troubles.append(one_line(text.other_version(others, own_version), _SENTENCE))
    if troubles:
        return Check("workers", "warn", "; ".join([said, *troubles]), text.difference_hint())
    return Check("workers", "ok", said)


def inability(worker: WorkerNow) -> str:
    """Why a worker that is there can do no work, fit for a terminal; empty when it can."""
    if worker.state != "unable" or worker.about is None:
        return ""
    return one_line(text.unable(worker.name, worker.about.trouble), _SENTENCE)


def sentence_of(found: WorkerDifference) -> str:
    """A difference in words, fit for a terminal: workers say of themselves what they like."""
    values = {value.value: value.workers for value in found.values}
    return one_line(text.difference(found.device, found.trait, values), _SENTENCE)
