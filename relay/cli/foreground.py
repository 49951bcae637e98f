"""What a service in the foreground needs of its process: signals, log lines on stderr, the worker's token."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relay.cli import text
from relay.cli.connect import NoToken
from relay.cli.manner import manner
from relay.machine.worker_processes import ensure_token_file
from relay.settings import RelaySettings

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


def log_to_stderr(settings: RelaySettings | None = None, *, usual: int = logging.INFO) -> None:
    """One line per event on stderr, ours and the libraries': for people on a terminal, JSON elsewhere. Warnings only
    under --quiet, all there is under --verbose, else from `usual` up. No line has a secret of `settings`."""
    from relay.trail.known_secrets import known_secrets
    from relay.trail.log_lines import write_log_lines
    from relay.trail.redaction import Redactor

    level = logging.WARNING if manner().quiet else logging.DEBUG if manner().verbose else usual
    write_log_lines(level, Redactor(known_secrets(settings) if settings else ()))


def tell_of_open_files(settings: RelaySettings) -> None:
    """Warn of files with secrets that others may read. The service works, and so would they."""
    import structlog

    from relay.cli.secret_checks import check_secret_files

    found = check_secret_files(settings)
    if found.status != "ok":
        structlog.get_logger(__name__).warning("secrets_are_readable", found=found.detail, next_step=found.next_step)


@contextmanager
def sending_spans(settings: RelaySettings, part: str) -> Iterator[None]:
    """Spans of this process for OpenTelemetry, where its variables ask for them. Without them it goes on as well."""
    import structlog

    from relay.trail.known_secrets import known_secrets
    from relay.trail.redaction import Redactor
    from relay.trail.tracing import tracing

    def tell(problem: str) -> None:
        structlog.get_logger(__name__).warning("no_spans", problem=problem)

    with tracing(f"oot-relay-{part}", Redactor(known_secrets(settings)), tell):
        yield


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
