"""Of a change's page what is about several devices: a verdict for each, and which one the page goes on with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist, Backend
from relay.context import RelayContext
from relay.runs.changes import Change
from relay.runs.device_verdicts import DeviceVerdict, device_verdicts
from relay.runs.event_listing import newest_event_id
from relay.views import RunSummary
from relay.web import change_words, wording
from relay.web.backend_reading import Registered

#: What an address asks for when it goes to another device: the begin of everything.
_AFRESH = {"group": "", "after": 0, "q": "", "left": 0, "held": 0}


@dataclass(frozen=True, slots=True)
class Board:
    """A change's verdict on one device. `shown`: the page goes on with its tests, which are at `address` otherwise.
    `entry` is its backend in the allowlist, None without one."""

    run: RunSummary
    word: wording.Word
    sentence: str
    tally: tuple[tuple[wording.Word, int], ...]
    address: str
    shown: bool
    entry: Backend | None


def change_shown(on: Mapping[str, Change], device: str) -> Change | None:
    """The change on the device that is asked for, else on the first that has a run of it."""
    return on.get(device) or next(iter(on.values()), None)


def devices_shown(
    session: Session, context: RelayContext, on: Mapping[str, Change], device: str, address: Callable[..., str]
) -> dict[str, Any]:
    """What the page shows when more than one device has a run: it speaks of all of them first, and follows all events,
    since those of one run end with it."""
    if len(on) < 2:
        return {"boards": (), "following": ""}
    last_event = newest_event_id(session)  # first: the verdicts are at least as new
    verdicts = device_verdicts(session, on, context.settings.public_url)
    shown = device if device in on else next(iter(on))
    known = Registered.of(context).allowlist
    boards = tuple(
        _board(told, address, _entry(context, known, told.device), shown=told.device == shown) for told in verdicts
    )
    unfinished = any(told.open_run for told in verdicts)
    sentence = change_words.devices_sentence(verdicts)
    return {
        "boards": boards,
        "following": f"/api/v1/events?after={last_event}" if unfinished else "",
        "word": change_words.worst_word([board.word for board in boards]),
        "sentence": sentence,
        "announcement": sentence,
    }


def _board(told: DeviceVerdict, address: Callable[..., str], entry: Backend | None, *, shown: bool) -> Board:
    return Board(
        told.run,
        change_words.verdict_word(told.run, told.counts),
        change_words.verdict_sentence(told.run, told.counts),
        tuple((change_words.GROUP_WORDS[group], count) for group, count in told.counts.items() if count),
        address("tests", device=told.device, **_AFRESH),
        shown,
        entry,
    )


def _entry(context: RelayContext, known: Allowlist, device: str) -> Backend | None:
    backend = context.backend_of(device)
    return known.find(backend.allowlist) if backend is not None and backend.allowlist else None
