"""The three secrets that a first start makes for itself, so that one machine works out of the box.

Owns their files in the state folder. What is given by a setting is never written there.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from pydantic import SecretStr

from relay.errors import SettingsError
from relay.settings.model import RelaySettings
from relay.settings.values import SECRET_MINIMUM

#: Setting -> file in the state folder that holds the secret when the setting is not given.
SECRET_FILES = {
    "webhook_secret": "webhook-secret",
    "worker_token": "worker-token",
    "operator_token": "operator-token",
}


def with_secrets(settings: RelaySettings) -> RelaySettings:
    """The same settings with every secret present: given ones are kept, missing ones are read from the state folder or
    made there with mode 0600, so that one machine works out of the box.

    Raises:
        SettingsError: the state folder or a secret file cannot be made or read.
    """
    found: dict[str, SecretStr] = {}
    for name, file in SECRET_FILES.items():
        if getattr(settings, name) is None:
            found[name] = SecretStr(_ensure_secret(settings.state_dir / file))
    return settings.model_copy(update=found)


def _ensure_secret(path: Path) -> str:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            _create_secret(path)
        secret = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(
            f"The secret {path} cannot be made or read: {error.strerror}. "
            "Set RELAY_STATE_DIR to a folder this user may write."
        ) from error
    if len(secret) < SECRET_MINIMUM:
        raise SettingsError(f"The secret in {path} is too short. Delete the file to have a new one made.")
    return secret


def _create_secret(path: Path) -> None:
    """Write beside and link: of several processes that start at once exactly one wins, and none reads half a file."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
        try:
            os.link(draft, path)
        except FileExistsError:
            return  # another process was first; its secret is the one everybody reads
    finally:
        draft.unlink()
