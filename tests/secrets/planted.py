"""A value that nothing else could be, for every secret the settings have: found by type and by place, so that a setting
that is added is planted as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import get_args

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from pydantic import BaseModel, SecretStr
from sqlalchemy import make_url

from relay.settings import RelaySettings
from relay.settings.model import WITH_LOGIN

#: What every planted value begins with.
MARK = "zqPLANTEDzq"


@dataclass(frozen=True)
class Planted:
    """A setting, what it is set to, and what must be seen nowhere of it."""

    setting: str
    value: str
    sought: tuple[str, ...]


def secret_settings(model: type[BaseModel]) -> Iterator[str]:
    """The settings that are secrets as a whole."""
    for name, field in model.model_fields.items():
        if SecretStr in (field.annotation, *get_args(field.annotation)):
            yield name


def planted(addresses: Mapping[str, str]) -> tuple[Planted, ...]:
    """A value for each secret of the relay; `addresses` are those that get a password, for each setting that may."""
    whole = [_whole(name) for name in secret_settings(RelaySettings)]
    return (*whole, *(_in_address(name, addresses[name]) for name in sorted(WITH_LOGIN)))


def _whole(name: str) -> Planted:
    if name.endswith("private_key"):
        return Planted(name, private_key(), tuple(private_key().splitlines()[1:-1]))
    value = f"{MARK}-{name}-ZQ"
    return Planted(name, value, (value,))


def _in_address(name: str, address: str) -> Planted:
    word = f"{MARK}.{name}.ZQ"  # the same in an address and out of it
    url = make_url(address)
    user = "me" if url.drivername.startswith("http") else url.username or ""
    return Planted(name, url.set(username=user, password=word).render_as_string(hide_password=False), (word,))


@cache
def private_key() -> str:
    """A key that GitHub could have made for an App."""
    made = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    return made.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()).decode()


def given(secrets: tuple[Planted, ...], folder: Path) -> dict[str, str]:
    """Environment variables that give them, every second one by a file in `folder`."""
    told = {}
    for number, one in enumerate(secrets):
        variable = f"RELAY_{one.setting.upper()}"
        if number % 2:
            told[variable] = one.value
        else:
            file = folder / one.setting
            file.write_text(one.value + "\n")
            file.chmod(0o600)
            told[f"{variable}_FILE"] = str(file)
    return told
