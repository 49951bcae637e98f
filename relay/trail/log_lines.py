"""The form of our log lines: one a line, with the ids that are bound around it, JSON unless somebody looks on.

Owns how the process logs, ours and its libraries' lines and the exceptions that nobody caught; and that no line holds
what `redact` takes out of it.
"""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

from relay.trail.tracing import present_ids

#: Libraries that report every step at INFO.
_CHATTY = ("httpx", "alembic", "uvicorn.error")


def write_log_lines(level: int, redact: Callable[[str], str]) -> None:
    """Write to stderr, from `level` up; stdout stays for data."""

    def without_secrets(_logger: object, _method: str, line: str | bytes | MutableMapping[str, Any]) -> str:
        return redact(str(line))

    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        _add_trace,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    # Plain stacks: the pretty ones show local variables, and a token is one somewhere.
    people = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    written: list[Processor] = [
        people if sys.stderr.isatty() else structlog.processors.JSONRenderer(),
        without_secrets,
    ]
    structlog.configure(
        processors=[*shared, *written],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        # Looked up for each line: stderr may be another one by then, and a log line must never fail its work.
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    handler = _ToStderr()
    remove_meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=[remove_meta, *written])
    )
    logging.basicConfig(handlers=[handler], level=level, force=True)
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread


def _add_trace(_logger: object, _method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The ids by which a line is found from a trace, and a trace from a line."""
    line.update(present_ids())
    return line


class _ToStderr(logging.Handler):
    """Writes what libraries log."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception as error:  # noqa: BLE001  # a library's line with the wrong arguments, which may be anything
            fault = type(error).__name__
            structlog.get_logger(__name__).error("a line could not be written", logger=record.name, fault=fault)
        else:
            sys.stderr.write(f"{line}\n")


def _uncaught(kind: type[BaseException], error: BaseException, trace: Any) -> None:
    """Python itself would print the message as it is."""
    if issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    structlog.get_logger(__name__).critical("uncaught", exc_info=(kind, error, trace))


def _uncaught_in_thread(told: threading.ExceptHookArgs) -> None:
    if told.exc_value is not None and not issubclass(told.exc_type, SystemExit):
        name = told.thread.name if told.thread else ""
        trouble = (told.exc_type, told.exc_value, told.exc_traceback)
        structlog.get_logger(__name__).critical("uncaught", thread=name, exc_info=trouble)
