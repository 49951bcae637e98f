"""What a service in the foreground needs of its process: signals, log lines on stderr, the worker's token."""

from __future__ import annotations

import gc
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
from relay.cli.manner import manner
from relay.machine.worker_processes import ensure_token_file
from relay.settings import RelaySettings

#: Libraries that report every step at INFO.
_CHATTY = ("httpx", "alembic", "uvicorn.error")
#: A signal is seen at once; only the end of a thread is looked for.
_LOOK_S = 1.0


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


def wait_for_stop(stop: threading.Event, work: threading.Thread) -> None:
    """Block until a signal came, or what is waited beside has ended by itself."""
    while work.is_alive() and not stop.wait(_LOOK_S):
        pass


def started() -> None:
    """Say that all is up: what the start made stays for good, so the collector need not look through it again, least of
    all while somebody waits for an answer."""
    gc.collect()
    gc.freeze()


def log_to_stderr(*, usual: int = logging.INFO) -> None:
    """One line per event on stderr, ours and the libraries': for people on a terminal, JSON elsewhere. stdout stays
    for data. Warnings only under --quiet, all there is under --verbose, else from `usual` up."""
    import structlog

    level = logging.WARNING if manner().quiet else logging.DEBUG if manner().verbose else usual
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    terminal = sys.stderr.isatty()
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if terminal else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Looked up for each line: stderr may be another one by then, and a log line must never fail its work.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    handler = logging.StreamHandler(sys.stderr)
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove_meta, renderer])
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)


def worker_token_file(settings: RelaySettings) -> Path:
    """The file with the token a worker shows. Raises `NoToken` when there is none."""
    return named_token_file() or _existing(ensure_token_file(settings))


def named_token_file() -> Path | None:
    """The file with a worker's token that the environment names. Raises `NoToken` when it names none that is there."""
    named = os.environ.get("RELAY_WORKER_TOKEN_FILE")
    return _existing(Path(named).expanduser().absolute()) if named else None


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise NoToken(text.no_worker_token(), text.no_worker_token_hint())
    return path
