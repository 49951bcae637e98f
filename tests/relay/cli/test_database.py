"""`relay db upgrade`: from nothing to the newest, again without change, and databases it cannot use."""

from __future__ import annotations

import pytest
from sqlalchemy import create_engine, text

from relay.settings import RelaySettings
from tests.relay.cli.conftest import Relay


def test_a_database_is_made_and_then_left_as_it_is(
    relay: Relay, empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice is once; `relay doctor` agrees."""
    monkeypatch.setenv("RELAY_DATABASE_URL", empty_database_url)
    first, second = relay("db", "upgrade"), relay("db", "upgrade")
    assert "went from schema none to " in first.out
    assert "the newest" in second.out
    told = relay("db", "upgrade", "--json").json
    assert isinstance(told, dict)
    assert told["before"] == told["after"]


def test_a_database_of_a_newer_version_is_left_alone(relay: Relay) -> None:
    """Nothing is known of its schema."""
    relay("db", "upgrade")
    engine = create_engine(RelaySettings().database_url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    ended = relay("db", "upgrade", "--json")
    assert (ended.code, ended.error["code"]) == (1, "database_unusable")
    assert "9999" in ended.error["message"]


def test_a_server_that_does_not_answer(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address without its password, and what to look at."""
    monkeypatch.setenv("RELAY_DATABASE_URL", "postgresql+psycopg://relay:geheim@127.0.0.1:1/relay?connect_timeout=2")
    ended = relay("db", "upgrade")
    assert ended.code == 1
    assert "127.0.0.1:1" in ended.err
    assert "RELAY_DATABASE_URL" in ended.err
    assert "geheim" not in ended.err


def test_a_url_of_no_database_of_ours(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_DATABASE_URL", "mysql://localhost/relay")
    assert relay("db", "upgrade", "--json").error["code"] == "bad_settings"
