"""The pages of deliveries: the inbox, the outbox, and what is dead in it, with why and how to send it again.

Letters and webhooks are no part of a run's history and make no event: an open page asks for them now and then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.orm import Session

from relay.context import Context, RelayContext
from relay.errors import NotFoundError
from relay.intake.listing import DeliveryFilter, delivery_detail, list_deliveries
from relay.intake.views import DeliveryPage
from relay.outbox.listing import LetterFilter, count_letters, find_letters, letter_detail
from relay.outbox.views import LetterState, LetterView
from relay.store.crcr_models import OutboxKind
from relay.store.models import DeliveryState
from relay.views import View
from relay.web import delivery_words as words
from relay.web.forms import FormActor
from relay.web.live.access import Reads
from relay.web.pages.shell import PAGES, choice, number
from relay.web.pages.switches import Given, address
from relay.web.sending_again import send_again
from relay.web.wording import Word

PATH = "/deliveries"
INBOX = "/deliveries/inbox"
_SHOWN = 50
#: Dead letters that stand above the list.
_GLIMPSE = 5
_TEXT_CAP = 300
#: No row has this id.
_NO_ROW = 0

_Outbox = tuple[tuple[LetterView, ...], int | None, dict[LetterState, int], tuple[LetterView, ...]]

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)


@dataclass(frozen=True, slots=True)
class Count:
    """How many are in a state, and the link that shows only those."""

    word: Word
    count: int
    href: str
    current: bool


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which letters an address asks for."""

    state: LetterState | None
    kind: OutboxKind | None
    target: str
    before: int | None

    @property
    def given(self) -> Given:
        """The parameters that stay when a page of the list is turned."""
        return {"state": self.state, "kind": self.kind, "target": self.target}

    def letters(self, state: LetterState | None) -> LetterFilter:
        """The same with a state."""
        return LetterFilter(state, self.kind, self.target or None)


def _wanted(state: str = "", kind: str = "", target: str = "", before: str = "") -> Wanted:
    found = choice(LetterState, state), choice(OutboxKind, kind)
    return Wanted(*found, target.strip()[:_TEXT_CAP], number(before))


@router.get(PATH)
def outbox_page(context: Context, reads: Reads, wanted: Annotated[Wanted, Depends(_wanted)]) -> HTMLResponse:
    """What left the relay or is to leave it, dead letters first."""
    whole = wanted.state is None and wanted.before is None
    letters, more, counts, dead = reads.recent((PATH, wanted), lambda: _outbox(context, wanted))
    return PAGES.render(
        "deliveries.html",
        context,
        nav="deliveries",
        wanted=wanted,
        letters=letters,
        dead=dead if whole else (),
        dead_count=counts.get(LetterState.DEAD, 0),
        counts=_counts(PATH, wanted.given, [(words.LETTER_WORDS[one], one, counts.get(one, 0)) for one in LetterState]),
        sentence=words.outbox_sentence(counts, context.settings.retention_days),
        kinds=tuple(words.KIND_WORDS.items()),
        filtered=any(wanted.given.values()),
        next_page=address(PATH, wanted.given, {"before": more}) if more else "",
        all_dead=address(PATH, wanted.given, {"state": LetterState.DEAD}),
        sends=context.crcr is not None,
        kept=words.letters_kept(context.settings.retention_days),
        words=words,
    )


def _outbox(context: RelayContext, wanted: Wanted) -> _Outbox:
    with context.store.reading() as session:
        letters, more = find_letters(session, wanted.letters(wanted.state), limit=_SHOWN, before=wanted.before)
        counts = count_letters(session, wanted.letters(None))
        dead, _ = find_letters(session, wanted.letters(LetterState.DEAD), limit=_GLIMPSE, before=None)
    return letters, more, counts, dead


@router.get(INBOX)
def inbox_page(context: Context, reads: Reads, state: str = "", delivery: str = "", before: str = "") -> HTMLResponse:
    """What arrived, newest first."""
    chosen, name = choice(DeliveryState, state), delivery.strip()[:_TEXT_CAP]
    wanted, older = DeliveryFilter(chosen, name or None), number(before)
    page = reads.recent((INBOX, wanted, older), lambda: _inbox(context, wanted, older))
    given: Given = {"state": chosen, "delivery": name}
    counts = [(words.DELIVERY_WORDS[one], one, page.counts.get(one, 0)) for one in DeliveryState]
    return PAGES.render(
        "inbox.html",
        context,
        nav="deliveries",
        deliveries=page.deliveries,
        state=chosen,
        delivery=name,
        counts=_counts(INBOX, given, counts),
        filtered=bool(chosen or name),
        next_page=address(INBOX, given, {"before": page.next_before}) if page.next_before else "",
        kept=words.bodies_kept(context.settings.retention_days),
        webhook_url=f"{context.settings.public_url}/github/webhook",
        words=words,
    )


def _inbox(context: RelayContext, wanted: DeliveryFilter, older: int | None) -> DeliveryPage:
    with context.store.reading() as session:
        return list_deliveries(session, wanted, limit=_SHOWN, before=older)


def _counts(path: str, given: Given, counts: Sequence[tuple[Word, str, int]]) -> tuple[Count, ...]:
    return tuple(
        Count(word, count, address(path, given, {"state": state}), given["state"] == state)
        for word, state, count in counts
    )


@router.get(INBOX + "/{row_id}")
def inbox_delivery_page(context: Context, row_id: str) -> HTMLResponse:
    """One webhook: what came of it, and whom it was told to."""
    return _one(context, "inbox_delivery.html", row_id, delivery_detail)


@router.get(PATH + "/{row_id}")
def letter_page(context: Context, row_id: str) -> HTMLResponse:
    """One letter: what it tells whom, how often it was tried, what stopped it."""
    return _one(context, "letter.html", row_id, letter_detail)


@router.post(PATH + "/{row_id}/replay")
def replay_form(context: Context, actor: FormActor, row_id: str) -> RedirectResponse:
    """Makes a dead letter due again and shows it. It was confirmed on the page before."""
    letter = number(row_id)
    if letter is None:
        raise NotFoundError("There is no such letter.", "It may never have been.")
    send_again(context, actor, (letter,))
    return RedirectResponse(f"{PATH}/{letter}", HTTPStatus.SEE_OTHER)


def _one(context: RelayContext, template: str, row_id: str, read: Callable[[Session, int], View]) -> HTMLResponse:
    try:
        with context.store.reading() as session:
            detail = read(session, number(row_id) or _NO_ROW)
    except NotFoundError as error:
        return PAGES.render(
            "error.html", context, status=404, nav="deliveries", heading=error.message, advice=error.hint
        )
    return PAGES.render(template, context, nav="deliveries", detail=detail, words=words)
