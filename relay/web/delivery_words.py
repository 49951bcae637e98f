"""The words of the pages about deliveries: what arrived, what leaves, what is stuck and why. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from relay.outbox.views import DispatchView, LetterState, LetterView
from relay.store.crcr_models import DispatchState, OutboxKind
from relay.store.models import DeliveryState
from relay.web.wording import Word, number

LETTER_WORDS: Mapping[LetterState, Word] = {
    LetterState.DUE: Word("…", "due", "busy", "waits for its time, or for one before it"),
    LetterState.SENDING: Word("▶", "sending", "busy", "on its way now"),
    LetterState.SENT: Word("✓", "sent", "good", "arrived"),
    LetterState.DEAD: Word("✗", "dead", "bad", "given up; only a person sends it again"),
}
DELIVERY_WORDS: Mapping[DeliveryState, Word] = {
    DeliveryState.RECEIVED: Word("…", "received", "busy", "stored, and to be handled next"),
    DeliveryState.PROCESSED: Word("✓", "processed", "good", "what it asks for was done"),
    DeliveryState.IGNORED: Word("○", "ignored", "quiet", "it asks for nothing of this relay"),
    DeliveryState.FAILED: Word("✗", "failed", "bad", "the relay refused what it asks for"),
}
KIND_WORDS: Mapping[OutboxKind, str] = {
    OutboxKind.DISPATCH: "tell a backend of a change",
    OutboxKind.CHECK_RUN: "show a backend's job upstream",
    OutboxKind.RERUN: "have a backend's jobs run again",
    OutboxKind.CANCEL: "cancel a backend's run",
    OutboxKind.HUD: "forward a result to a dashboard",
    OutboxKind.PLAN: "find out whom to tell of a webhook",
    OutboxKind.REDELIVER: "have a missed webhook sent again",
    OutboxKind.COMMAND: "find out whether a comment's author may",
    OutboxKind.COMMENT: "answer in a pull request",
}
_DISPATCH_WORDS: Mapping[str, Word] = {
    DispatchState.QUEUED: Word("…", "queued", "busy", "in the outbox"),
    DispatchState.DISPATCHED: Word("✓", "told", "good", "the backend was told"),
    DispatchState.FAILED: Word("✗", "failed", "bad", "the backend could not be told"),
    DispatchState.WITHDRAWN: Word("⊘", "withdrawn", "quiet", "overtaken before it was told"),
}

_ADVICE: Mapping[int, str] = {
    401: "The other side does not know who asks: check the App's key and id, or the token.",
    403: "The App may not do this there: check that it is installed and has the permission.",
    404: "The App sees no such repository: check the name in the allowlist, and that the App is installed there.",
    422: "The other side refuses the content: sending it again helps only when that was changed.",
}
_UNREACHED = "The other side did not answer in all the time that was given: check that it can be reached."
_OTHERWISE = "When the cause is gone, send it again."


def letter_word(letter: LetterView) -> Word:
    """The state of a letter."""
    return LETTER_WORDS[letter.state]


def kind_sentence(letter: LetterView) -> str:
    """What a letter is to do; a kind that this version does not know is shown as it is."""
    known = {kind.value: sentence for kind, sentence in KIND_WORDS.items()}
    return known.get(letter.kind, letter.kind)


def advice(letter: LetterView) -> str:
    """What most likely helps a dead letter."""
    if letter.status is None:
        return _UNREACHED
    return _ADVICE.get(letter.status, _OTHERWISE)


def why(letter: LetterView) -> str:
    """What the last attempt that failed met."""
    status = f"HTTP {letter.status}" if letter.status is not None else ""
    if status and letter.error.startswith(status):
        return letter.error
    return ": ".join(part for part in (status, letter.error) if part) or "no reason was kept"


def attempts(letter: LetterView) -> str:
    """How often it was tried."""
    if letter.attempts == 0:
        return "not tried yet"
    return "tried once" if letter.attempts == 1 else f"tried {number(letter.attempts)} times"


def replay_command(letter: LetterView) -> str:
    """What sends it again."""
    return f"relay delivery replay {letter.id}"


def replay_question(letter: LetterView) -> str:
    """What is asked before a letter is sent again."""
    return f"It goes to {letter.target} once more, with all its attempts before it. Was the cause removed?"


def dead_heading(count: int) -> str:
    """Over the dead letters."""
    return f"{number(count)} dead {'letter needs' if count == 1 else 'letters need'} a person"


def outbox_sentence(counts: Mapping[LetterState, int], retention_days: int) -> str:
    """The whole outbox, in one sentence. Letters go after so many days, 0 for never."""
    waiting = counts.get(LetterState.DUE, 0) + counts.get(LetterState.SENDING, 0)
    if counts.get(LetterState.DEAD, 0):
        return f"{dead_heading(counts[LetterState.DEAD])}; {number(waiting)} wait."
    lately = f"Nothing left the relay in the last {number(retention_days)} days." if retention_days else ""
    return f"Nothing is stuck; {number(waiting)} wait." if counts else lately or "Nothing left the relay yet."


def letters_kept(retention_days: int) -> str:
    """How far back the outbox tells."""
    if not retention_days:
        return "Letters are kept for good."
    return f"What was sent or given up more than {number(retention_days)} days ago is removed and not counted."


def bodies_kept(retention_days: int) -> str:
    """What is left of an old webhook."""
    if not retention_days:
        return "Webhooks are kept whole."
    return f"After {number(retention_days)} days the body of a webhook is removed; what came of it stays."


def delivery_word(state: DeliveryState) -> Word:
    """The state of a webhook."""
    return DELIVERY_WORDS[state]


def dispatch_word(dispatch: DispatchView) -> Word:
    """What became of telling a backend."""
    return _DISPATCH_WORDS[dispatch.state]


def dispatch_subject(dispatch: DispatchView) -> str:
    """What a backend is told of."""
    about = f"pull request #{dispatch.pr_number}" if dispatch.pr_number is not None else "the branch"
    return f"{dispatch.event} of {about}"


def size(count: int) -> str:
    """Of a payload."""
    return f"{number(count)} bytes" if count < 10_000 else f"{number(round(count / 1024))} KiB"


def failed_advice(state: DeliveryState) -> str:
    """What to do about a webhook."""
    if state is DeliveryState.FAILED:
        return "A refusal is final, and a repeat of the same webhook is answered the same. A new push brings a new one."
    if state is DeliveryState.RECEIVED:
        return "It is handled within seconds; if it stays, relay doctor tells whether the service runs."
    return ""
