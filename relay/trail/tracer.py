"""The tracer behind `relay.trail.tracing`, which alone imports this: the SDK comes with the extra `tracing`.

Nothing here is the process's global tracer, so no library sends spans of its own through it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import IdGenerator, RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import NonRecordingSpan, SpanContext, Status, StatusCode, TraceFlags

from relay import __version__
from relay.printable import printable

Attributes = Mapping[str, str | int | float | bool]
#: Characters of an attribute.
_CAP = 200
_wanted: ContextVar[tuple[int, int] | None] = ContextVar("relay_wanted_ids", default=None)


class _Ids(IdGenerator):
    """Random ids, unless a span is recorded whose ids are known."""

    def __init__(self) -> None:
        self._random = RandomIdGenerator()

    def generate_trace_id(self) -> int:
        wanted = _wanted.get()
        return self._random.generate_trace_id() if wanted is None else wanted[0]

    def generate_span_id(self) -> int:
        wanted = _wanted.get()
        return self._random.generate_span_id() if wanted is None else wanted[1]


class Tracer:
    """Sends the spans of one process, in batches, from a thread of its own."""

    def __init__(self, service: str, instance: str, redact: Callable[[str], str]) -> None:
        """Where to, how much and under which name is told by the standard's variables, which the SDK reads."""
        about = {"service.name": service, "service.version": __version__, "service.instance.id": instance}
        resource = Resource(about).merge(Resource.create())
        if resource.attributes.get("service.name", "").startswith("unknown_service"):  # type: ignore[union-attr] # text
            resource = resource.merge(Resource({"service.name": service}))
        self._provider = TracerProvider(resource=resource, id_generator=_Ids(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("oot-relay", __version__)
        self._redact = redact

    def stop(self) -> None:
        """Send what waits and end the thread."""
        self._provider.shutdown()

    @contextmanager
    def span(self, name: str, parent: str, attributes: Attributes) -> Iterator[None]:
        """A span around a block."""
        where = _context_of(parent) if parent else None
        opened = self._tracer.start_span(name, context=where, attributes=self._clean(attributes))
        with trace.use_span(opened, end_on_exit=True, record_exception=False, set_status_on_exception=False):
            try:
                yield
            except BaseException as error:
                # Its message may be anybody's words.
                opened.set_status(Status(StatusCode.ERROR, type(error).__name__))
                raise

    def name_span(self, name: str, attributes: Attributes) -> None:
        """Name the open span anew."""
        opened = trace.get_current_span()
        opened.update_name(name)
        opened.set_attributes(self._clean(attributes))

    def record(
        self, name: str, identity: str, parent: str, time: tuple[datetime, datetime], attributes: Attributes
    ) -> None:
        """A span that is over. Without a parent it is the first of the trace of its identity."""
        begun, ended = time
        before = _context_of(parent) if parent else context.Context()
        token = _wanted.set((_trace_id(identity), _span_id(identity)))
        try:
            made = self._tracer.start_span(
                name, context=before, attributes=self._clean(attributes), start_time=_nanoseconds(begun)
            )
        finally:
            _wanted.reset(token)
        made.end(_nanoseconds(ended))

    def derived(self, of_trace: str, identity: str) -> str:
        """The traceparent of a span by its identity, marked as sampled where every process decides so of its trace."""
        trace_id = _trace_id(of_trace)
        kept = self._provider.sampler.should_sample(None, trace_id, identity).decision is Decision.RECORD_AND_SAMPLE
        return f"00-{trace_id:032x}-{_span_id(identity):016x}-{int(kept):02x}"

    def present(self) -> str:
        """The traceparent of the open span."""
        of = trace.get_current_span().get_span_context()
        return f"00-{of.trace_id:032x}-{of.span_id:016x}-{of.trace_flags:02x}" if of.is_valid else ""

    def _clean(self, attributes: Attributes) -> Attributes:
        """Of text a line at most, and first without secrets: half of one would not be known any more."""
        return {
            name if "." in name else f"relay.{name}": printable(self._redact(value)[:_CAP])
            if isinstance(value, str)
            else value
            for name, value in attributes.items()
        }


def _context_of(traceparent: str) -> context.Context:
    """The context in which a span is a child of another process's."""
    _, trace_id, span_id, flags = traceparent.split("-")
    of = SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))
    return trace.set_span_in_context(NonRecordingSpan(of), context.Context())


def _trace_id(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"trace {name}".encode()).digest()[:16])


def _span_id(identity: str) -> int:
    return int.from_bytes(hashlib.sha256(f"span {identity}".encode()).digest()[:8])


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000_000)
