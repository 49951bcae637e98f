"""The one way in which the results side refuses: a status and a sentence, answered as `{"error": sentence}`."""

from __future__ import annotations


class HudError(Exception):
    """A request to `/api/crcr` or `/api/clickhouse` that is not answered. `message` is for the caller: it quotes
    nothing that the caller did not send, and no secret."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
