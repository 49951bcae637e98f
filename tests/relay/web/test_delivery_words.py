"""Every state and purpose of a delivery has its words, and what is dead has a cause and advice."""

from __future__ import annotations

import pytest

from relay.outbox.views import DispatchView, LetterState, LetterView
from relay.store.crcr_models import DispatchState, OutboxKind
from relay.store.models import DeliveryState
from relay.web import delivery_words as words
from tests.relay.stories import START


def letter(**changes: object) -> LetterView:
    told: dict[str, object] = {
        "id": 7,
        "kind": "dispatch",
        "state": LetterState.DEAD,
        "target": "a/l2",
        "attempts": 3,
        "due_at": START,
        "created_at": START,
        "settled_at": START,
        "status": 404,
        "error": "Not Found",
    }
    return LetterView.model_validate(told | changes)


def test_every_state_and_purpose_has_words() -> None:
    assert set(words.LETTER_WORDS) == set(LetterState)
    assert set(words.DELIVERY_WORDS) == set(DeliveryState)
    assert set(words.KIND_WORDS) == set(OutboxKind)
    for state in DispatchState:
        dispatch = DispatchView(
            delivery_id="d", repo="a/l2", level="L2", event="push", pr_number=None, head_sha="", state=state, reason=""
        )
        assert words.dispatch_word(dispatch).word
    assert words.dispatch_subject(dispatch) == "push of the branch"


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        (404, "Not Found", "HTTP 404: Not Found"),
        (404, "HTTP 404: Not Found", "HTTP 404: Not Found"),
        (None, "refused", "refused"),
        (500, "", "HTTP 500"),
        (None, "", "no reason was kept"),
    ],
)
def test_why_names_the_status_once(status: int | None, error: str, told: str) -> None:
    assert words.why(letter(status=status, error=error)) == told


def test_advice_goes_by_the_status() -> None:
    found = {words.advice(letter(status=status)) for status in (401, 403, 404, 422, None, 418)}
    assert len(found) == 6


@pytest.mark.parametrize(("count", "told"), [(0, "not tried yet"), (1, "tried once"), (2, "tried 2 times")])
def test_attempts_are_counted_in_words(count: int, told: str) -> None:
    assert words.attempts(letter(attempts=count)) == told


def test_the_command_is_the_one_to_type() -> None:
    assert words.replay_command(letter()) == "relay delivery replay 7"


def test_a_purpose_of_a_newer_version_is_shown_as_it_is() -> None:
    assert words.kind_sentence(letter(kind="pigeon")) == "pigeon"


def test_the_whole_outbox_is_one_sentence() -> None:
    assert words.outbox_sentence({}, 0) == "Nothing left the relay yet."
    assert words.outbox_sentence({LetterState.SENT: 3, LetterState.SENDING: 1}, 90) == "Nothing is stuck; 1 wait."
    dead = words.outbox_sentence({LetterState.DUE: 2, LetterState.DEAD: 2}, 90)
    assert dead == "2 dead letters need a person; 2 wait."


def test_sizes_are_in_the_unit_that_fits() -> None:
    assert words.size(9_999).endswith(" bytes")
    assert words.size(20_480) == "20 KiB"


def test_only_a_webhook_that_is_not_done_has_advice() -> None:
    advised = [state for state in DeliveryState if words.failed_advice(state)]
    assert advised == [DeliveryState.RECEIVED, DeliveryState.FAILED]
