"""Spans for OpenTelemetry, sent where `OTEL_EXPORTER_OTLP_ENDPOINT` says; without it nothing is imported or sent.

Owns the process's tracer, how spans of several processes find together, and that no attribute holds a secret or more
than a line of anybody's text. A delivery and a run have spans with ids made of their identity: whoever knows that can
add to them, so nothing about traces is kept in the record.
Sources: https://www.w3.org/TR/trace-context/ , https://opentelemetry.io/docs/specs/otel/protocol/exporter/
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.trail.tracer import Tracer

#: Of text, no more than a line is sent, without secrets.
Attribute = str | int | float | bool
HEADER = "traceparent"
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
_OURS = "http/protobuf"
_TRACEPARENT = re.compile(r"00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
_NOTHING: AbstractContextManager[None] = nullcontext()


class TracingUnavailableError(Exception):
    """Spans are wanted and cannot be sent; the text says why and what to do."""


class _Process:
    """What this process sends spans with. A process that was forked has to begin for itself."""

    tracer: Tracer | None = None
    pid: int = 0


def is_wanted(environment: Mapping[str, str] | None = None) -> bool:
    """Whether the environment asks for spans."""
    given = os.environ if environment is None else environment
    off = given.get("OTEL_SDK_DISABLED", "").lower() == "true" or given.get("OTEL_TRACES_EXPORTER") == "none"
    return any(given.get(name) for name in _ENDPOINTS) and not off


def start_tracing(service: str, redact: Callable[[str], str]) -> bool:
    """Begin to send spans, where that is asked for, under this name unless `OTEL_SERVICE_NAME` has another.

    Raises:
        TracingUnavailableError: they cannot be sent. The service works without.
    """
    if is_on() or not is_wanted():
        return is_on()
    spoken = next(filter(None, map(os.environ.get, _PROTOCOLS)), _OURS)
    if spoken != _OURS:
        raise TracingUnavailableError(f"{_PROTOCOLS[1]} is {spoken}, and only {_OURS} is spoken here")
    try:
        from relay.trail.tracer import Tracer  # noqa: PLC0415  # an extra, and half a second of imports
    except ModuleNotFoundError as error:
        raise TracingUnavailableError(
            f"{_ENDPOINTS[1]} is set, but {error.name} is not installed: pip install 'oot-relay[tracing]'"
        ) from error
    _Process.tracer = Tracer(service, f"{socket.gethostname()}:{os.getpid()}", redact)
    _Process.pid = os.getpid()
    return True


def stop_tracing() -> None:
    """Send what waits, within a bound, and nothing more."""
    if is_on() and _Process.tracer is not None:
        _Process.tracer.stop()
    _Process.tracer = None


def is_on() -> bool:
    """Whether this process sends spans."""
    return _Process.tracer is not None and _Process.pid == os.getpid()


def span(name: str, parent: str = "", **attributes: Attribute) -> AbstractContextManager[None]:
    """A span around a block, in the one that is open or in that of the traceparent `parent`. A block that raises leaves
    the exception's type."""
    if not is_on() or _Process.tracer is None:
        return _NOTHING
    return _Process.tracer.span(name, parent, attributes)


def name_span(name: str, **attributes: Attribute) -> None:
    """Call the open span so, once it is known better."""
    if is_on() and _Process.tracer is not None:
        _Process.tracer.name_span(name, attributes)


def record_span(
    name: str, identity: str, parent: str, time: tuple[datetime, datetime], **attributes: Attribute
) -> None:
    """A span that is over, with the ids of `identity`; `parent` is a traceparent, empty for the first of its trace."""
    if is_on() and _Process.tracer is not None:
        _Process.tracer.record(name, identity, parent, time, attributes)


def traceparent_of(trace: str, identity: str) -> str:
    """The traceparent of the span `identity` in the trace of that name; empty while no spans are sent."""
    return _Process.tracer.derived(trace, identity) if is_on() and _Process.tracer is not None else ""


def present_traceparent() -> str:
    """The traceparent of the open span, for those who are asked on its behalf; empty when there is none."""
    return _Process.tracer.present() if is_on() and _Process.tracer is not None else ""


def usable_traceparent(text: str) -> str:
    """The text, if it is a traceparent of the version there is; else an empty one, as the standard says."""
    return text if _TRACEPARENT.fullmatch(text) else ""


def present_ids() -> dict[str, str]:
    """`trace_id` and `span_id` of the open span, for log lines."""
    given = present_traceparent()
    return {"trace_id": given[3:35], "span_id": given[36:52]} if given else {}


@contextmanager
def tracing(service: str, redact: Callable[[str], str], problem: Callable[[str], None]) -> Iterator[None]:
    """Spans for as long as the block lasts. What keeps them from being sent is told to `problem`."""
    try:
        start_tracing(service, redact)
    except TracingUnavailableError as error:
        problem(str(error))
    try:
        yield
    finally:
        stop_tracing()
