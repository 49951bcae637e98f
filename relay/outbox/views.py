"""What readers get of the outbox: shared by the API, its client and the command line. Knows no database.

Errors quote the other side: untrusted text.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from relay.views import View

#: Letters that one request makes due again.
REPLAYS_CAP = 500


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


class LetterPage(View):
    """The newest first. `counts` are of all letters that fit, by state, whatever the page holds."""

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

    letter: LetterView
    key: str
    lane: str
    open_since: datetime
    dispatch: DispatchView | None


class ReplayRequest(View):
    """Dead letters that are to be sent again."""

    ids: Annotated[tuple[int, ...], Field(min_length=1, max_length=REPLAYS_CAP)]


class Replayed(View):
    """`replayed` are due again. `untouched` were not dead."""

    replayed: tuple[int, ...]
    untouched: tuple[int, ...]
