"""What `relay doctor` says of secrets: weak ones, one for two purposes, files that others may read. It shows none."""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from relay.cli import doctor_text as text
from relay.cli.check import Check

if TYPE_CHECKING:
    from relay.settings import RelaySettings

#: Bits of Shannon's measure over the characters of the value itself: 16 random characters of base64 have some 60.
_LEAST_BITS = 40.0
#: Beginnings of what people write when they mean to change it later, and of what manuals show.
_EXAMPLES = ("change", "secret", "passw", "example", "default", "admin", "test", "token", "postgres", "redis", "relay")
_EXAMPLE_WORDS = ("changeme", "change-me", "example", "your-", "placeholder", "password", "0123456789", "abcdefgh")
#: Made by others, and good or bad as they are.
_NOT_OURS = frozenset({"github_app_private_key"})


def check_secrets(settings: RelaySettings) -> Check:
    """Whether each that is given would take long to guess, and is for one purpose alone."""
    from relay.settings.values import SECRET_MINIMUM

    given = dict(_given(settings))
    troubles = [
        text.weak(name, why)
        for name, secret in given.items()
        if name not in _NOT_OURS and (why := weakness(secret, SECRET_MINIMUM))
    ]
    troubles += [text.same(names) for names in _shared(given)]
    troubles += list(_open_doors(settings))
    if troubles:
        return Check("secrets", "warn", "; ".join(troubles), text.secrets_hint())
    return Check("secrets", "ok", text.strong_secrets(len(given)))


def weakness(secret: str, minimum: int) -> str:
    """Why a secret is easily guessed; empty when it is not."""
    lowered = secret.lower()
    if len(secret) < minimum:
        return text.too_short(minimum)
    if any(word in lowered for word in _EXAMPLE_WORDS) or lowered.strip("0123456789!-_.") in _EXAMPLES:
        return text.an_example()
    counts = Counter(secret)
    bits = -sum(count * math.log2(count / len(secret)) for count in counts.values())
    return text.too_even() if bits < _LEAST_BITS else ""


def _given(settings: RelaySettings) -> Iterator[tuple[str, str]]:
    """Every secret by the name people know it by: settings, files that a first start made, passwords in addresses."""
    from pydantic import SecretStr

    from relay.settings import SECRET_FILES, variable_of
    from relay.settings.model import WITH_LOGIN
    from relay.trail.known_secrets import in_address

    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, SecretStr):
            yield variable_of(name), value.get_secret_value().strip()
        elif name in WITH_LOGIN and (password := next(in_address(str(value)), "")):
            yield f"the password in {variable_of(name)}", password
        elif name in SECRET_FILES and (kept := _kept(settings.state_dir / SECRET_FILES[name])):
            yield str(settings.state_dir / SECRET_FILES[name]), kept


def _kept(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def _shared(given: Mapping[str, str]) -> list[list[str]]:
    by_value: dict[str, list[str]] = {}
    for name, secret in given.items():
        by_value.setdefault(secret, []).append(name)
    return [names for names in by_value.values() if len(names) > 1]


def _open_doors(settings: RelaySettings) -> Iterator[str]:
    """A queue of another machine that asks for nothing: whoever reaches it may wake workers, or drown them."""
    from urllib.parse import urlsplit

    from relay.settings.values import on_this_machine
    from relay.trail.known_secrets import in_address

    address = settings.broker_url
    host = urlsplit(address).hostname
    is_server = address.startswith(("redis://", "rediss://"))
    if is_server and host and not any(in_address(address)) and not on_this_machine(address):
        yield text.no_password("RELAY_BROKER_URL", host)


def check_secret_files(settings: RelaySettings) -> Check:
    """Whether others may read what holds a secret."""
    from relay.trail.secret_file import open_to_others

    files = list(dict.fromkeys(secret_files(settings)))
    exposed = [str(file) for file in files if open_to_others(file)]
    if exposed:
        return Check("secret files", "warn", text.open_files(exposed), text.open_files_hint(exposed))
    return Check("secret files", "ok", text.closed_files(len(files)))


def secret_files(settings: RelaySettings) -> Iterator[Path]:
    """The files that hold secrets of this relay and are there."""
    from relay.settings import SECRET_FILES
    from relay.settings.secret_folder import SECRETS

    named = [os.environ.get(f"RELAY_{name.upper()}_FILE", "") for name in SECRETS]
    files = [Path(file).expanduser() for file in named if file]
    files += [settings.state_dir / name for name in (*SECRET_FILES.values(), "worker-token.given")]
    if settings.secrets_dir is not None and settings.secrets_dir.is_dir():
        files += [file for file in sorted(settings.secrets_dir.iterdir()) if file.is_file()]
    yield from (file for file in files if file.is_file())
