"""What a process knows and must not write down is found by type and by place, never by a list of names."""

from __future__ import annotations

from pydantic import BaseModel, SecretStr

from relay.settings import RelaySettings
from relay.trail.known_secrets import known_secrets


class Anything(BaseModel):
    """Settings of some program."""

    token: SecretStr | None = None
    queue: SecretStr | None = None
    address: str = ""
    name: str = "not-a-secret"


def test_secrets_are_found_by_type_and_in_addresses_by_place() -> None:
    given = Anything(
        token=SecretStr("a-token\n"),
        queue=SecretStr("redis://:p%40ss@queue:6379/0"),
        address="https://only-a-token@host/path?sslpassword=in-the-query&mode=require",
    )
    environment = {
        "https_proxy": "http://me:of-the-proxy@proxy:3128",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20of-the-collector,x=1",
        "PATH": "/usr/bin:/bin",
    }
    assert set(known_secrets(given, environment)) == {
        *("a-token", "a-token\n", "p%40ss", "p@ss", "only-a-token", "in-the-query", "of-the-proxy"),
        *("Bearer%20of-the-collector", "Bearer of-the-collector", "1"),
    }


def test_settings_without_secrets_have_none() -> None:
    assert known_secrets(RelaySettings(), {}) == ()
    assert known_secrets(Anything(address="http://[broken"), {}) == ()
