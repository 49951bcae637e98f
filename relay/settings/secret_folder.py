"""A folder of files as a store of secrets, as Kubernetes, Docker and systemd mount them: one file, one secret.

Owns how the files of the folder are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic_settings import SettingsError as UnreadableVariable

from relay.settings.original import ORIGINAL_NAMES, REDIS_LOGIN
from relay.trail.secret_file import read_secret

VARIABLE = "RELAY_SECRETS_DIR"
#: Settings that are secrets or may hold one. Nothing else is read from the folder: what is no secret belongs where
#: people see it.
SECRETS = (
    "webhook_secret",
    "worker_token",
    "operator_token",
    "github_app_private_key",
    "hud_key",
    "hud_intake_key",
    "llm_api_key",
    "database_url",
    "broker_url",
    "upstream_clone_url",
    "llm_base_url",
)
_ORIGINALS = frozenset({REDIS_LOGIN, *(ORIGINAL_NAMES[name] for name in SECRETS if name in ORIGINAL_NAMES)})
_KNOWN = frozenset({*SECRETS, *(variable.lower() for variable in _ORIGINALS)})
_PREFIX = "relay_"


class SecretFolder:
    """The files of a folder, looked at once and read when they are needed."""

    def __init__(self, folder: Path | None) -> None:
        """None is a folder without files.

        Raises:
            UnreadableVariable: the folder cannot be listed, or has two files for one secret.
        """
        self._files: Mapping[str, Path] = {} if folder is None else _files(folder)

    def setting(self, name: str) -> str | None:
        """The secret of a setting, None when there is no file of its name. Raises UnreadableVariable."""
        return self._text(name) if name in SECRETS else None

    def original(self, variable: str) -> str | None:
        """The secret under the original's name. Raises UnreadableVariable."""
        return self._text(variable.lower()) if variable in _ORIGINALS else None

    def _text(self, name: str) -> str | None:
        file = self._files.get(name)
        return None if file is None else read_secret(file, f"{VARIABLE}: {file.name}")


def _files(folder: Path) -> dict[str, Path]:
    """Normalized name -> file: `webhook_secret` for `webhook-secret`, `WEBHOOK_SECRET` and `RELAY_WEBHOOK_SECRET`."""
    found: dict[str, Path] = {}
    try:
        for file in sorted(folder.expanduser().iterdir()):
            name = file.name.lower().replace("-", "_").removeprefix(_PREFIX)
            if name not in _KNOWN or not file.is_file():
                continue
            if name in found:
                raise UnreadableVariable(f"{VARIABLE}: {found[name].name} and {file.name} are the same secret")
            found[name] = file
    except OSError as error:
        raise UnreadableVariable(f"{VARIABLE}: the folder cannot be listed: {error.strerror}") from error
    return found
