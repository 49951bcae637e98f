"""Single values: what is usable, what is meant by it, and errors that do not quote it."""

from __future__ import annotations

import pytest

from relay.contract import broker_connection
from relay.settings.values import local_address, redis_url, safe_address, web_address


@pytest.mark.parametrize(
    ("endpoint", "login", "encrypted", "url"),
    [
        ("cache", "", False, "redis://cache:6379/0"),
        ("cache.example:6380", "", False, "redis://cache.example:6380/0"),
        (" 10.0.0.7:1 ", "", False, "redis://10.0.0.7:1/0"),
        ("cache", "just-a-password", False, "redis://:just-a-password@cache:6379/0"),
        ("cache", "user:pass:word/@", False, "redis://user:pass%3Aword%2F%40@cache:6379/0"),
        ("cache", "user:", False, "redis://cache:6379/0"),
        ("cache", "p", True, "rediss://:p@cache:6379/0?ssl_cert_reqs=required"),
    ],
)
def test_a_redis_endpoint_becomes_a_url(endpoint: str, login: str, encrypted: bool, url: str) -> None:
    """With the login's characters escaped, and checked certificates when it is encrypted."""
    assert redis_url(endpoint, login, encrypted=encrypted) == url
    assert broker_connection(url).url == url


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        " ",
        ":6379",
        "redis://cache:6379",
        "cache/0",
        "cache:",
        "cache:0",
        "cache:65536",
        "cache:x",
        "u@cache",
        "a b",
    ],
)
def test_what_is_no_endpoint(endpoint: str) -> None:
    """URLs, paths, bad ports and nothing, none of them repeated."""
    with pytest.raises(ValueError, match="must be host or host:port") as caught:
        redis_url(endpoint, "a-password", encrypted=False)
    assert "a-password" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "kinds"),
    [
        ("https://hud.pytorch.org/api//", {"web", "safe"}),
        ("http://hud.pytorch.org/api", {"web"}),
        ("http://127.0.0.1:3000", {"web", "safe", "local"}),
        ("http://localhost/", {"web", "safe", "local"}),
        ("http://[::1]:80", {"web", "safe", "local"}),
        ("https://127.0.0.1.example.com", {"web", "safe"}),
        ("ftp://127.0.0.1", set()),
        ("https://", set()),
        ("hud.pytorch.org", set()),
        ("", set()),
    ],
)
def test_addresses(url: str, kinds: set[str]) -> None:
    """Where a key is sent, plain http stays on this machine; trailing slashes go."""
    for kind, check in (("web", web_address), ("safe", safe_address), ("local", local_address)):
        if kind in kinds:
            assert check(url) == url.rstrip("/")
        else:
            with pytest.raises(ValueError, match="must"):
                check(url)
