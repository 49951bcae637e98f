"""Who a token speaks for: those of the settings, those on record while they are valid, and nobody else."""

from __future__ import annotations

import hmac
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import event, select

from relay.access.principals import OPERATOR_NAME, WORKER_NAME, Principal, identify
from relay.access.tokens import create_token, revoke_token
from relay.access_views import Scope
from relay.settings import RelaySettings
from relay.store.access_models import AccessToken
from relay.store.engine import Store
from tests.conftest import OPERATOR_TOKEN, WORKER_TOKEN

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


def given(store: Store, *, expires_at: datetime | None = None) -> tuple[str, int]:
    with store.writing() as session:
        new = create_token(session, "ci", Scope.OPERATE, NOW, expires_at=expires_at, created_by="me")
    return new.token, new.about.id


def test_the_tokens_of_the_settings_stay_valid(store: Store, settings: RelaySettings) -> None:
    assert identify(store, settings, OPERATOR_TOKEN, NOW) == Principal(OPERATOR_NAME, Scope.ADMIN)
    assert identify(store, settings, WORKER_TOKEN, NOW) == Principal(WORKER_NAME, Scope.WORKER)


@pytest.mark.parametrize("given", [OPERATOR_TOKEN, WORKER_TOKEN, "wrong", "", OPERATOR_TOKEN + "x"])
def test_every_token_of_the_settings_is_compared_whichever_fits(
    store: Store, settings: RelaySettings, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """And texts of one length, so that the time it takes tells nothing of the tokens."""
    compared: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def noted(one: bytes, other: bytes) -> bool:
        compared.append((len(one), len(other)))
        return compare(one, other)

    monkeypatch.setattr(hmac, "compare_digest", noted)
    identify(store, settings, given, NOW)
    assert compared == [(64, 64)] * 2


def test_a_token_on_record_speaks_for_its_name(store: Store, settings: RelaySettings) -> None:
    token, token_id = given(store)
    assert identify(store, settings, token, NOW) == Principal("ci", Scope.OPERATE, token_id)


@pytest.mark.parametrize("wrong", ["", "relay_", "relay_" + "x" * 43, "RELAY_", "w\u00f6rker", "\0", "x" * 100_000])
def test_anything_else_speaks_for_nobody(store: Store, settings: RelaySettings, wrong: str) -> None:
    given(store)
    assert identify(store, settings, wrong, NOW) is None


def test_an_expired_token_speaks_for_nobody(store: Store, settings: RelaySettings) -> None:
    token, _ = given(store, expires_at=NOW + HOUR)
    assert identify(store, settings, token, NOW + HOUR - timedelta(seconds=1)) is not None
    assert identify(store, settings, token, NOW + HOUR) is None


def test_a_revoked_token_speaks_for_nobody(store: Store, settings: RelaySettings) -> None:
    token, token_id = given(store)
    with store.writing() as session:
        revoke_token(session, token_id, NOW)
    assert identify(store, settings, token, NOW) is None


def test_use_is_noted_at_most_once_a_minute(store: Store, settings: RelaySettings) -> None:
    """A token in use is told from a forgotten one, without a write for each request."""
    token, token_id = given(store)
    writes: list[str] = []

    @event.listens_for(store.engine, "before_cursor_execute")
    def _note(_c: object, _k: object, statement: str, *_: object) -> None:
        if statement.startswith("UPDATE"):
            writes.append(statement)

    for second in (0, 1, 59, 60, 61):
        assert identify(store, settings, token, NOW + timedelta(seconds=second)) is not None
    assert len(writes) == 2
    with store.reading() as session:
        used = session.scalar(select(AccessToken.last_used_at).where(AccessToken.id == token_id))
    assert used == NOW + timedelta(seconds=60)


def test_the_workers_way_asks_no_database(store: Store, settings: RelaySettings) -> None:
    """Leases are asked for all the time."""
    asked: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda _c, _k, statement, *_: asked.append(statement))
    identify(store, settings, WORKER_TOKEN, NOW)
    identify(store, settings, "no token of ours", NOW)
    assert asked == []
