"""A bearer token opens the door for one body only."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from relay.crcr.replay_guard import admit
from relay.parts import TokenRefusedError, VerifiedClaims
from relay.store.crcr_models import SeenToken
from relay.store.engine import Store

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
ISSUER = "https://token.actions.githubusercontent.com"


def claims(jti: str = "t1", issuer: str = ISSUER) -> VerifiedClaims:
    """A verified token."""
    return VerifiedClaims("a/l2", issuer, jti, NOW + timedelta(minutes=5), {})


def use(store: Store, token: VerifiedClaims, body: str, at: datetime = NOW) -> bool:
    """Whether a token is let in with a body."""
    try:
        with store.writing() as session:
            admit(session, token, body, at)
    except TokenRefusedError:
        return False
    return True


def seen(store: Store) -> list[tuple[str, int]]:
    """The stored tokens and how often each was used."""
    with store.reading() as session:
        return [(row.jti, row.uses) for row in session.scalars(select(SeenToken).order_by(SeenToken.id))]


def test_a_token_repeats_its_body_and_says_nothing_else(store: Store) -> None:
    """A client that tries again is let in, somebody who overheard the token is not."""
    assert use(store, claims(), "body")
    assert use(store, claims(), "body")
    assert not use(store, claims(), "another body")
    assert seen(store) == [("t1", 2)]


def test_tokens_are_told_apart_by_issuer_and_id(store: Store) -> None:
    """Two issuers may give the same id."""
    assert use(store, claims(), "one")
    assert use(store, claims("t2"), "two")
    assert use(store, claims(issuer="https://agent.buildkite.com"), "three")


def test_a_token_without_an_id_passes(store: Store) -> None:
    """There is nothing to know it by."""
    assert use(store, claims(""), "one")
    assert use(store, claims(""), "two")
    assert seen(store) == []


@pytest.mark.parametrize("jti", ["x" * 5_000, "a\0b", "a\ud800b"])
def test_an_id_of_any_form_is_remembered(store: Store, jti: str) -> None:
    """Those that no column takes too."""
    assert use(store, claims(jti), "one")
    assert not use(store, claims(jti), "two")


def test_a_token_is_forgotten_after_its_end(store: Store) -> None:
    """Not at once: a verifier lets it in a little longer."""
    assert use(store, claims(), "one")
    assert not use(store, claims(), "two", NOW + timedelta(minutes=14))
    assert use(store, claims("t2"), "two", NOW + timedelta(minutes=16))
    assert [jti for jti, _ in seen(store)] == ["t2"]


def test_of_two_bodies_at_once_one_is_let_in(store: Store) -> None:
    """The database decides, not the order of looks."""
    answers: list[bool] = []
    bodies = [f"body {number}" for number in range(8)]
    threads = [threading.Thread(target=lambda body=body: answers.append(use(store, claims(), body))) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [False] * 7 + [True]
