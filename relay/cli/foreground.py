"""What a service in the foreground needs of its process: signals, log lines on stderr, the worker's token."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relay.cli import text
from relay.cli.connect import NoToken
from relay.settings import RelaySettings
from relay.worker_processes import ensure_token_file


@contextmanager
def watching_signals() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set. A second signal ends the process the hard way."""
    stop = threading.Event()

    def note_signal(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop.set()

    before = {number: signal.signal(number, note_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_for_stop(stop: threading.Event) -> None:
    """Block until a signal came."""
    stop.wait()


def log_to_stderr() -> None:
    """Log lines of the libraries and of the service; stdout stays for data."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    for chatty in ("httpx", "alembic"):
        logging.getLogger(chatty).setLevel(logging.WARNING)


def worker_token_file(settings: RelaySettings) -> Path:
    """The file with the token a worker shows. Raises `NoToken` when there is none."""
    named = os.environ.get("RELAY_WORKER_TOKEN_FILE")
    path = Path(named).expanduser().absolute() if named else ensure_token_file(settings)
    if not path.is_file():
        raise NoToken(text.no_worker_token(), text.no_worker_token_hint())
    return path
