"""Every secret that a process knows by its settings and by its proxies, so that none is written down.

Found by type, and in addresses by place: a setting that is added is covered by itself.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from pydantic import BaseModel, SecretStr

#: How a password is called in the query of an address.
_SECRET_WORDS = ("password", "passwd", "token", "secret", "key")
#: Headers for who takes spans: `name=value`, comma-separated, in percent encoding.
TRACING_HEADERS = ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS")


def known_secrets(settings: BaseModel, environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The secrets of `settings` and of the environment's proxies, each once: tokens, keys, passwords in addresses."""
    given = os.environ if environment is None else environment
    found = [secret for name in type(settings).model_fields for secret in _of_value(getattr(settings, name))]
    found += [secret for name, text in given.items() if name.lower().endswith("_proxy") for secret in in_address(text)]
    found += [secret for name in TRACING_HEADERS for secret in _of_headers(given.get(name, ""))]
    return tuple(dict.fromkeys(filter(None, found)))


def in_address(address: str) -> Iterator[str]:
    """The passwords of an address, as they stand there and as they are meant. One without a password may have a token
    for its user."""
    try:
        parts = urlsplit(address)
        user, password = parts.username, parts.password
    except ValueError:
        return
    login = password or (user if parts.scheme in ("http", "https") else None)
    queried = (text for name, text in parse_qsl(parts.query) if any(word in name.lower() for word in _SECRET_WORDS))
    for secret in filter(None, (login, *queried)):
        yield from (secret, unquote(secret))


def _of_value(value: object) -> Iterator[str]:
    if isinstance(value, SecretStr):
        secret = value.get_secret_value()
        if "://" in secret.partition("\n")[0]:
            yield from in_address(secret)
        else:
            yield from (secret, secret.strip())
    elif isinstance(value, str) and "://" in value:
        yield from in_address(value)


def _of_headers(headers: str) -> Iterator[str]:
    for header in headers.split(","):
        value = header.partition("=")[2].strip()
        yield from (value, unquote(value))


def without_login(url: str) -> str:
    """The address without user and password, where these are for the web; others name a user that is no secret."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
