"""A language model that can be told how to fail: an OpenAI-compatible server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FakeModel:
    """`mode`: honest (defers everything), garbage (prose), hangs (no answer), lies (names tests that do not exist)."""

    def __init__(self) -> None:
        self.mode = "honest"
        self.asked = 0
        self._released = threading.Event()

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The base URL of the model while it serves."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            self._released.set()
            server.shutdown()
            server.server_close()

    def _answer(self) -> str:
        return {
            "honest": json.dumps({"verdicts": []}),
            "garbage": "I would rather talk about the weather.",
            "lies": json.dumps({"verdicts": [{"id": "c999", "verdict": "run", "reason": "trust me"}]}),
        }[self.mode]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.asked += 1
                self.rfile.read(int(self.headers["Content-Length"]))
                if model.mode == "hangs":
                    model._released.wait(30)
                    return
                body = json.dumps(
                    {
                        "choices": [
                            {"message": {"role": "assistant", "content": model._answer()}, "finish_reason": "stop"}
                        ]
                    }
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
