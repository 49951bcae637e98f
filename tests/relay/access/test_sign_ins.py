"""A cookie stands for a token for some hours, ends with it, and makes the tokens of forms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr
from sqlalchemy import func, select, text

from relay.access.principals import OPERATOR_NAME, Principal, identify
from relay.access.sign_ins import SIGNED_IN_FOR, fits_form, form_token, new_cookie, sign_in, sign_out, signed_in
from relay.access.tokens import create_token, revoke_token
from relay.access_views import Scope
from relay.settings import RelaySettings
from relay.store.access_models import SignIn
from relay.store.engine import Store
from tests.conftest import OPERATOR_TOKEN

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def entered(store: Store, settings: RelaySettings, token: str, now: datetime = NOW) -> str:
    principal = identify(store, settings, token, now)
    assert principal is not None
    with store.writing() as session:
        return sign_in(session, principal, token, now)


def test_a_cookie_stands_for_the_operator_token(store: Store, settings: RelaySettings) -> None:
    cookie = entered(store, settings, OPERATOR_TOKEN)
    assert signed_in(store, settings, cookie, NOW) == Principal(OPERATOR_NAME, Scope.ADMIN)
    for wrong in ("", "x", cookie + "x", new_cookie()):
        assert signed_in(store, settings, wrong, NOW) is None


def test_neither_the_cookie_nor_the_token_is_on_record(store: Store, settings: RelaySettings) -> None:
    cookie = entered(store, settings, OPERATOR_TOKEN)
    with store.reading() as session:
        row = session.execute(text("SELECT * FROM sign_ins")).mappings().one()
    assert not [value for value in row.values() if str(value) in (cookie, OPERATOR_TOKEN)]
    assert row["token_id"] is None


def test_it_ends_after_some_hours(store: Store, settings: RelaySettings) -> None:
    cookie = entered(store, settings, OPERATOR_TOKEN)
    assert signed_in(store, settings, cookie, NOW + SIGNED_IN_FOR - SECOND) is not None
    assert signed_in(store, settings, cookie, NOW + SIGNED_IN_FOR) is None


def test_it_ends_when_the_setting_changes(store: Store, settings: RelaySettings) -> None:
    """Who changes the operator token means it."""
    cookie = entered(store, settings, OPERATOR_TOKEN)
    changed = settings.model_copy(update={"operator_token": SecretStr("another-operator-token")})
    assert signed_in(store, changed, cookie, NOW) is None


def test_it_ends_with_a_token_on_record(store: Store, settings: RelaySettings) -> None:
    """Also with its expiry, without anybody cleaning up."""
    with store.writing() as session:
        lasting = create_token(session, "a", Scope.READ, NOW, expires_at=None, created_by="me")
        short = create_token(session, "b", Scope.READ, NOW, expires_at=NOW + 5 * SECOND, created_by="me")
    one, two = entered(store, settings, lasting.token), entered(store, settings, short.token)
    assert signed_in(store, settings, one, NOW) == Principal("a", Scope.READ, lasting.about.id)
    assert signed_in(store, settings, two, NOW + 5 * SECOND) is None
    with store.writing() as session:
        revoke_token(session, lasting.about.id, NOW)
    assert signed_in(store, settings, one, NOW) is None


def test_signing_out_ends_this_browser_alone(store: Store, settings: RelaySettings) -> None:
    one, two = entered(store, settings, OPERATOR_TOKEN), entered(store, settings, OPERATOR_TOKEN)
    with store.writing() as session:
        sign_out(session, one)
        sign_out(session, "never was")
    assert signed_in(store, settings, one, NOW) is None
    assert signed_in(store, settings, two, NOW) is not None


def test_what_is_over_is_forgotten_by_the_next_sign_in(store: Store, settings: RelaySettings) -> None:
    entered(store, settings, OPERATOR_TOKEN)
    entered(store, settings, OPERATOR_TOKEN, NOW + SIGNED_IN_FOR)
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(SignIn)) == 1


def test_a_form_fits_one_cookie() -> None:
    """It tells nothing of the cookie, and no cookie makes no form."""
    mine, other = new_cookie(), new_cookie()
    assert mine not in form_token(mine)
    assert fits_form(mine, form_token(mine))
    assert not fits_form(mine, form_token(other))
    assert not fits_form("", form_token(""))
    assert not fits_form(mine, "")
    assert not fits_form(mine, "w\u00f6rter")
