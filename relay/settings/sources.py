"""Where a setting's value comes from when no `RELAY_*` variable gives it: a secret's from the file that one names, then
the original's variables, then the folder of secrets. And the name to call a value by when it is wrong.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

from relay.settings.original import ORIGINAL_NAMES, original_values, refuse_foreign_store
from relay.settings.secret_folder import SECRETS, VARIABLE, SecretFolder
from relay.trail.secret_file import named_file


class FallbackSource(PydanticBaseSettingsSource):
    """What `RELAY_*` variables and the caller left open."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """A part of the base class's own way to go through fields, which is not gone here."""
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """The values, by setting. Raises pydantic_settings.SettingsError naming the variable."""
        known = {name: value for name, value in self.current_state.items() if value is not None}
        named = {name: text for name in SECRETS if (text := named_file(name)) and name not in known}
        known |= named
        folder = _folder(known.get("secrets_dir"))

        def look_up(variable: str) -> str | None:
            given = os.environ.get(variable)
            return folder.original(variable) if given is None else given

        found = original_values(known, look_up)
        found |= _from_folder(folder, known | found)
        refuse_foreign_store(known | found, look_up)
        return named | found


def _from_folder(folder: SecretFolder, known: dict[str, Any]) -> dict[str, Any]:
    """Secrets of the folder that are not known yet; an empty file is none."""
    return {name: text for name in SECRETS if name not in known and (text := folder.setting(name))}


def _folder(given: object) -> SecretFolder:
    return SecretFolder(None if given is None else Path(str(given)))


def variable_of(setting: str) -> str:
    """The name by which a person gave this setting: our variable, the original's, or a file of the folder."""
    ours = f"RELAY_{setting.upper()}"
    if setting in SECRETS and os.environ.get(f"{ours}_FILE"):
        return f"{ours}_FILE"
    original = ORIGINAL_NAMES.get(setting, "")
    if not os.environ.get(ours) and original and os.environ.get(original):
        return original
    if not os.environ.get(ours) and os.environ.get(VARIABLE) and setting in SECRETS:
        return f"{ours} or its file in {VARIABLE}"
    return ours
