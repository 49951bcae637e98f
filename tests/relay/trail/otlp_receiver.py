"""A collector of spans on loopback: what any sends it by OTLP over HTTP is decoded by the protocol's own classes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)


@dataclass(frozen=True)
class SpanSeen:
    """A span as it arrived."""

    service: str
    name: str
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    status: str
    seconds: float


@dataclass
class Receiver:
    """What came so far, and under which headers."""

    url: str = ""
    spans: list[SpanSeen] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def take(self, body: bytes) -> None:
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            about = {it.key: it.value.string_value for it in resource.resource.attributes}
            for span in (span for scope in resource.scope_spans for span in scope.spans):
                self.spans.append(
                    SpanSeen(
                        service=about["service.name"],
                        name=span.name,
                        trace=span.trace_id.hex(),
                        id=span.span_id.hex(),
                        parent=span.parent_span_id.hex(),
                        attributes={it.key: _value(it.value) for it in span.attributes},
                        status=span.status.message,
                        seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                    )
                )


def _value(given: Any) -> Any:
    return getattr(given, given.WhichOneof("value"))


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A collector for the time of the block."""
    receiver = Receiver()

    class Takes(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            receiver.headers.append(dict(self.headers))
            receiver.take(self.rfile.read(int(self.headers["Content-Length"])))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Takes) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        yield receiver
        server.shutdown()
        thread.join()
