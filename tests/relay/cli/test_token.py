"""`relay token`: access is given and taken back from the command line, and a value is printed once and alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import select

from relay.context import RelayContext
from relay.settings import RelaySettings
from relay.store.access_models import AccessToken
from tests.conftest import WORKER_TOKEN
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import TOKEN


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    """Reading takes a token."""
    return settings.model_copy(update={"read_access": "token"})


def expiry(context: RelayContext, name: str) -> datetime | None:
    with context.store.reading() as session:
        return session.scalars(select(AccessToken).where(AccessToken.name == name)).one().expires_at


def test_the_value_is_alone_on_stdout(relay: Relay, served: RelayContext) -> None:
    """So that it can be piped to where it is kept; what to know about it is beside."""
    ended = relay("token", "create", "ci", "--scope", "operate")
    assert ended.code == 0
    assert ended.out.startswith("relay_")
    assert len(ended.out.split()) == 1
    assert "token ci, scope operate, valid until 20" in ended.err
    assert "shown this once" in ended.err


def test_what_was_made_opens_what_it_says(relay: Relay, served: RelayContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """A token that reads lists runs where reading takes one, and makes no tokens; a revoked one does neither."""
    made = relay("token", "create", "reader").out.strip()
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", made)
    assert relay("run", "list").code == 0
    refused = relay("token", "list")
    assert (refused.code, refused.out) == (4, "")
    assert "this takes one of scope admin" in refused.err
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", TOKEN)
    assert relay("token", "revoke", "1").code == 0
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", made)
    ended = relay("run", "list")
    assert ended.code == 4
    assert "revoked" in ended.err


@pytest.mark.parametrize(("given", "length"), [("12h", timedelta(hours=12)), ("2w", timedelta(weeks=2))])
def test_an_end_is_a_duration(relay: Relay, served: RelayContext, given: str, length: timedelta) -> None:
    before = datetime.now(UTC)
    assert relay("token", "create", "ci", "--expires", given).code == 0
    end = expiry(served, "ci")
    assert end is not None
    assert before + length <= end <= datetime.now(UTC) + length


def test_an_end_is_a_date_or_never(relay: Relay, served: RelayContext) -> None:
    assert relay("token", "create", "a", "--expires", "2999-12-31").code == 0
    assert expiry(served, "a") == datetime(2999, 12, 31, tzinfo=UTC)
    ended = relay("token", "create", "b", "--expires", "never")
    assert "valid until it is revoked" in ended.err
    assert expiry(served, "b") is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--expires", "soon"), "'soon' is no duration or date"),
        (("--expires", "-1d"), "'-1d' is no duration or date"),
        (("--scope", "oprate"), "Did you mean 'operate'?"),
        (("--scope", "root"), "Scopes are: read, operate, admin, worker."),
    ],
)
def test_a_wrong_option_is_a_wrong_command(relay: Relay, options: tuple[str, str], sentence: str) -> None:
    """Said before any service is asked."""
    ended = relay("token", "create", "ci", *options)
    assert ended.code == 2
    assert sentence in ended.err


def test_a_refusal_of_the_service_is_told_with_its_way_out(relay: Relay, served: RelayContext) -> None:
    relay("token", "create", "ci")
    ended = relay("token", "create", "ci")
    assert ended.code == 1
    assert "There is a valid token named ci." in ended.err
    assert "relay token list" in ended.err
    assert relay("token", "revoke", "77").code == 1


def test_the_list_has_no_value_and_tells_the_state(relay: Relay, served: RelayContext) -> None:
    values = [relay("token", "create", name, "--scope", "worker").out.strip() for name in ("one", "two")]
    assert relay("token", "revoke", "1").out == "token 1 (one) is revoked; sign-ins with it have ended\n"
    valid = relay("token", "list")
    assert [line.split("\t")[:4] for line in valid.out.splitlines()] == [["2", "two", "worker", "valid"]]
    every = relay("token", "list", "--all")
    states = [line.split("\t")[3] for line in every.out.splitlines()]
    assert states == ["valid", "revoked"]
    assert not [value for value in values if value in every.out]


def test_a_long_list_is_whole(relay: Relay, served: RelayContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay.cli.token._PAGE", 2)
    for number in range(5):
        relay("token", "create", f"t{number}")
    assert len(relay("token", "list").out.splitlines()) == 5


def test_json_is_for_programs(relay: Relay, served: RelayContext) -> None:
    made = relay("token", "create", "ci", "--json").json
    assert isinstance(made, dict)
    assert made["token"].startswith("relay_")
    listed = relay("token", "list", "--json").json
    assert isinstance(listed, list)
    assert [one["name"] for one in listed] == ["ci"]
    ended = relay("token", "revoke", "1", "--json").json
    assert isinstance(ended, dict)
    assert ended["state"] == "revoked"


def test_no_tokens_says_where_the_others_are(relay: Relay, served: RelayContext) -> None:
    ended = relay("token", "list")
    assert (ended.code, ended.out) == (0, "")
    assert "relay token show" in ended.err


def test_another_kind_of_token_needs_another_login(
    relay: Relay, served: RelayContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", WORKER_TOKEN)
    assert relay("token", "create", "ci").code == 4


def test_show_tells_where_this_machines_own_are(relay: Relay) -> None:
    """Without their values, until they are asked for."""
    hidden = relay("token", "show")
    assert "RELAY_OPERATOR_TOKEN" in hidden.out
    assert TOKEN not in hidden.out
    assert TOKEN in relay("token", "show", "--reveal").out
