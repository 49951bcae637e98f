"""The answer of a task, put together from its pieces and kept in bounds."""

from __future__ import annotations

import base64
import binascii

from workers.runner.child.events import Event, Piece, Refused
from workers.runner.details import capped
from workers.runner.types import Answer


class Pieces:
    """What an answering child reports. An answer of more than `most` bytes is none."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._data = bytearray()
        self._problem = ""

    def receive(self, event: Event) -> None:
        match event:
            case Piece(text=text) if not self._problem:
                self._add(text)
            case Refused(reason=reason):
                self._problem = self._problem or capped(reason) or "it gives no reason"
            case _:
                pass

    def _add(self, text: str) -> None:
        try:
            self._data += base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            self._problem = "its answer cannot be read"
        if len(self._data) > self._most:
            self._problem = f"its answer is larger than {self._most >> 20} MiB"

    def answer(self, problem: str) -> Answer:
        """`problem` is what was seen from outside."""
        found = self._problem or problem
        return Answer(b"", found) if found else Answer(bytes(self._data))
