"""The App's own token, and the private key that signs it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, NoEncryption, PrivateFormat
from pydantic import SecretStr

from relay.errors import SettingsError
from relay.github.identity import AppIdentity, read_private_key

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


@cache
def key() -> rsa.RSAPrivateKey:
    """Made once."""
    return rsa.generate_private_key(65_537, 2_048)


def pem(
    of: PrivateKeyTypes | None = None,
    form: PrivateFormat = PrivateFormat.TraditionalOpenSSL,
    passphrase: bytes = b"",
) -> str:
    """A key as a file."""
    cipher = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    return (of or key()).private_bytes(Encoding.PEM, form, cipher).decode()


def identity() -> AppIdentity:
    """The App 4711."""
    return AppIdentity(4711, SecretStr(pem()), lambda: NOW)


def claims_of(one: AppIdentity) -> dict[str, int | str]:
    """What a token of it says, verified."""
    scheme, token = one.authorization().split(" ")
    assert scheme == "Bearer"
    options: jwt.types.Options = {"verify_exp": False, "verify_iat": False}
    claims: dict[str, int | str] = jwt.decode(token, key().public_key(), algorithms=["RS256"], options=options)
    return claims


def test_a_token_names_the_app_and_lives_within_githubs_ten_minutes() -> None:
    """Begun a minute ago, against clocks that differ."""
    at = int(NOW.timestamp())
    assert claims_of(identity()) == {"iss": "4711", "iat": at - 60, "exp": at + 540}


def test_githubs_clock_is_learnt_from_an_answer() -> None:
    """Only when it is another by more than an answer may take; then it is kept."""
    one = identity()
    assert not one.learn(None)
    assert not one.learn(NOW + timedelta(seconds=4))
    assert one.time() == NOW
    assert one.learn(NOW + timedelta(hours=1))
    assert one.time() == NOW + timedelta(hours=1)
    assert claims_of(one)["exp"] == int(NOW.timestamp()) + 3_600 + 540
    assert not one.learn(NOW + timedelta(hours=1))


@pytest.mark.parametrize(
    "text",
    [
        pem(),
        pem(form=PrivateFormat.PKCS8),
        pem().replace("\n", "\\n"),
        f"\n  {pem()}\n\n",
        pem().replace("\n", "\r\n"),
    ],
)
def test_a_key_is_read_in_the_forms_it_comes_in(text: str) -> None:
    """GitHub's file, converted, in one line of an environment file, with line ends of another system."""
    assert read_private_key(SecretStr(text)).private_numbers() == key().private_numbers()


NO_KEYS = {
    "empty": "",
    "a path": "/etc/relay/app.pem",
    "no PEM": "MIIEpAIBAAKCAQEA",
    "cut off": pem()[:400],
    "a public key": "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----\n",
    "another kind": pem(ec.generate_private_key(ec.SECP256R1())),
    "with a passphrase": pem(passphrase=b"secret"),
    "not text of this world": "\ud800",
}


@pytest.mark.parametrize("what", NO_KEYS)
def test_what_is_no_key_stops_the_start_and_is_not_quoted(what: str) -> None:
    """The message names the variable and says what belongs there."""
    with pytest.raises(SettingsError, match="RELAY_GITHUB_APP_PRIVATE_KEY is no RSA private key") as refused:
        AppIdentity(1, SecretStr(NO_KEYS[what]), lambda: NOW)
    assert len(str(refused.value)) < 300
    assert "MII" not in str(refused.value)
    assert refused.value.__cause__ is None
