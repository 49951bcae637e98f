"""How workers are woken: the task, its queue, and the broker's URL as both sides read it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

#: Celery task name and queue of the wake-up message. The message carries no work: the worker leases it over HTTP.
WAKE_TASK = "relay.wake"


def queue_name(queue: str) -> str:
    """The Celery queue that wakes the workers of one device kind, by the name that its backend gives it, which is the
    device's unless its description says another."""
    return f"device.{queue}"


@dataclass(frozen=True, slots=True)
class BrokerConnection:
    """A broker URL in the form Celery takes it. `folder` is set for the file-system broker, which both sides create."""

    url: str
    transport_options: dict[str, str]
    folder: Path | None = None


def broker_connection(url: str) -> BrokerConnection:
    """Read a `RELAY_BROKER_URL`. `filesystem:///var/relay/broker` names the folder in the URL, because kombu's own
    `filesystem://` takes it from transport options that two programs would have to agree on separately.
    """
    if not url.startswith("filesystem://"):
        return BrokerConnection(url, {})
    folder = Path(url.removeprefix("filesystem://"))
    messages, control = str(folder / "messages"), str(folder / "control")
    options = {"data_folder_in": messages, "data_folder_out": messages, "control_folder": control}
    # With a host, which means nothing here: kombu would warn that there is none.
    return BrokerConnection("filesystem://localhost", options, folder)
