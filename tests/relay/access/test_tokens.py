"""Access tokens are random, kept as digests, named once among the valid ones, and end when they should."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from relay.access.tokens import PREFIX, create_token, digest_of, list_tokens, revoke_token
from relay.access_views import NewToken, Scope, TokenState
from relay.errors import ConflictError, NotFoundError
from relay.store.access_models import AccessToken
from relay.store.engine import Store
from tests.relay.meanwhile import meanwhile

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def made(store: Store, name: str, *, expires_at: datetime | None = None, scope: Scope = Scope.READ) -> NewToken:
    with store.writing() as session:
        return create_token(session, name, scope, NOW, expires_at=expires_at, created_by="me")


def test_what_is_kept_is_the_digest(store: Store) -> None:
    """No column of the table holds the value, and two tokens are never alike."""
    first, second = made(store, "first"), made(store, "second")
    assert first.token != second.token
    assert first.token.startswith(PREFIX)
    assert len(first.token) >= len(PREFIX) + 43  # 256 bits in base64
    with store.reading() as session:
        row = session.execute(text("SELECT * FROM access_tokens WHERE name = 'first'")).mappings().one()
    assert row["digest"] == digest_of(first.token)
    assert not [column for column, value in row.items() if first.token in str(value)]


def test_a_name_speaks_for_one_valid_token(store: Store) -> None:
    """It is free again when that one is over, revoked or expired."""
    one = made(store, "ci", expires_at=NOW + HOUR)
    with pytest.raises(ConflictError) as caught:
        made(store, "ci")
    assert caught.value.code == "name_taken"
    with store.writing() as session:
        revoke_token(session, one.about.id, NOW)
    again = made(store, "ci", expires_at=NOW + HOUR)
    with store.writing() as session:
        late = create_token(session, "ci", Scope.READ, NOW + 2 * HOUR, expires_at=None, created_by="me")
    assert len({one.about.id, again.about.id, late.about.id}) == 3


def test_of_two_who_ask_for_one_name_at_once_one_gets_it(store: Store) -> None:
    """The first is not committed yet when the second asks."""

    def first(session: Session) -> NewToken:
        return create_token(session, "ci", Scope.READ, NOW, expires_at=None, created_by="me")

    with pytest.raises(ConflictError) as caught:
        meanwhile(store, first, lambda: made(store, "ci"))
    assert caught.value.code == "name_taken"
    with store.reading() as session:
        assert session.scalars(select(AccessToken.name)).all() == ["ci"]


def test_a_token_that_would_be_over_at_once_is_refused(store: Store) -> None:
    with pytest.raises(ConflictError) as caught:
        made(store, "ci", expires_at=NOW)
    assert caught.value.code == "expired_already"


def test_the_list_has_the_valid_ones_and_on_demand_all(store: Store) -> None:
    made(store, "stays")
    made(store, "expires", expires_at=NOW + HOUR)
    gone = made(store, "revoked")
    with store.writing() as session:
        revoke_token(session, gone.about.id, NOW)
    with store.reading() as session:
        valid = list_tokens(session, NOW + 2 * HOUR, every=False, limit=10, before=None)
        every = list_tokens(session, NOW + 2 * HOUR, every=True, limit=10, before=None)
    assert [token.name for token in valid.tokens] == ["stays"]
    assert [(token.name, token.state) for token in every.tokens] == [
        ("revoked", TokenState.REVOKED),
        ("expires", TokenState.EXPIRED),
        ("stays", TokenState.VALID),
    ]


def test_the_list_goes_on_where_it_stopped(store: Store) -> None:
    for number in range(5):
        made(store, f"t{number}")
    seen: list[str] = []
    before: int | None = None
    with store.reading() as session:
        while True:
            page = list_tokens(session, NOW, every=True, limit=2, before=before)
            seen += [token.name for token in page.tokens]
            before = page.next_before
            if before is None:
                break
    assert seen == ["t4", "t3", "t2", "t1", "t0"]


def test_revoking_twice_keeps_the_first_moment(store: Store) -> None:
    one = made(store, "ci")
    with store.writing() as session:
        first = revoke_token(session, one.about.id, NOW)
        second = revoke_token(session, one.about.id, NOW + HOUR)
    assert first.revoked_at == second.revoked_at == NOW


@pytest.mark.parametrize("number", [0, 77, 2**31, 2**70])
def test_no_such_token_is_not_found(store: Store, number: int) -> None:
    with pytest.raises(NotFoundError), store.writing() as session:
        revoke_token(session, number, NOW)


def test_a_revoked_token_keeps_its_row(store: Store) -> None:
    """The audit log goes on naming it."""
    one = made(store, "ci")
    with store.writing() as session:
        revoke_token(session, one.about.id, NOW)
    with store.reading() as session:
        assert session.scalars(select(AccessToken.name)).all() == ["ci"]
