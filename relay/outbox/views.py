"""What readers get of the outbox: shared by the API, its client and the command line. Knows no database.

Errors quote the other side: untrusted text.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field, JsonValue

from relay.contract.texts import WHOLE
from relay.views import Page, View

#: Letters that one request makes due again.
REPLAYS_CAP = 500


_LETTER: dict[str, JsonValue] = {
    "id": 96,
    "kind": "dispatch",
    "state": "dead",
    "target": "acme/torch-acme",
    "attempts": 9,
    "due_at": "2026-11-02T11:00:00Z",
    "created_at": "2026-11-01T11:00:00Z",
    "settled_at": "2026-11-02T11:00:00Z",
    "status": 404,
    "error": "HTTP 404: Not Found",
}
_PAGE: dict[str, JsonValue] = {
    "letters": [_LETTER],
    "next_before": 96,
    "counts": {"sent": 80, "dead": 1},
    "next": "/api/v1/outbox?limit=1&cursor=Wzk2XQ",
}
_DETAIL: dict[str, JsonValue] = {
    "letter": _LETTER,
    "key": "dispatch:6a1f0c2e:acme/torch-acme",
    "lane": "pytorch/pytorch#7:acme/torch-acme",
    "open_since": "2026-11-01T11:00:00Z",
    "dispatch": {
        "delivery_id": "6a1f0c2e-7d1b-11f0-8c3a-5b8e4f1a2b3c",
        "repo": "acme/torch-acme",
        "level": "L2",
        "event": "pull_request",
        "pr_number": 7,
        "head_sha": "1f" * 20,
        "state": "failed",
        "reason": "HTTP 404: Not Found",
    },
}


class LetterState(StrEnum):
    """`due` waits for its time or its turn, `sending` is on its way, `sent` arrived, `dead` needs a person."""

    DUE = "due"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"


class LetterView(View):
    """One request that leaves the relay, or left. `target` is a repository or an address; `due_at` is its next attempt
    while it is due; `error` and `status` tell of the last attempt that failed."""

    id: int
    kind: str
    state: LetterState
    target: str
    attempts: int
    due_at: datetime
    created_at: datetime
    settled_at: datetime | None
    status: int | None
    error: str


class LetterPage(Page):
    """The newest first. `counts` are of all letters that fit, by state, whatever the page holds."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_PAGE]})

    letters: tuple[LetterView, ...]
    next_before: int | None
    counts: dict[LetterState, int]


class DispatchView(View):
    """What a letter tells a backend: which delivery, and what became of telling."""

    delivery_id: str
    repo: str
    level: str
    event: str
    pr_number: int | None
    head_sha: str
    state: str
    reason: str


class LetterDetail(View):
    """One letter. `key` is the decision that it came from; letters of one `lane` leave in order."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_DETAIL]})

    letter: LetterView
    key: str
    lane: str
    open_since: datetime
    dispatch: DispatchView | None


class ReplayRequest(View):
    """Dead letters that are to be sent again."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [{"ids": [96, 97]}]})

    ids: Annotated[tuple[Annotated[int, WHOLE], ...], Field(min_length=1, max_length=REPLAYS_CAP)]


class Replayed(View):
    """`replayed` are due again. `untouched` were not dead."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [{"replayed": [96], "untouched": [97]}]})

    replayed: tuple[int, ...]
    untouched: tuple[int, ...]
