"""One file that holds one secret. Its content never appears in an error."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic_settings import SettingsError as UnreadableVariable

_MAX_BYTES = 64 * 1024


def read_secret(file: Path, called: str) -> str:
    """The secret of a file, without white space around it. `called` is the file's name for people.

    Raises:
        UnreadableVariable: it cannot be read, is too large, or is no text.
    """
    try:
        with file.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
        if len(content) > _MAX_BYTES:
            raise UnreadableVariable(f"{called} is larger than {_MAX_BYTES // 1024} KiB")
        return content.decode().strip()
    except OSError as error:
        raise UnreadableVariable(f"{called} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        # Without its cause, which holds the content and quotes a piece of it.
        raise UnreadableVariable(f"{called} is not UTF-8 text") from None


def named_file(setting: str) -> str | None:
    """The secret in the file that `RELAY_<SETTING>_FILE` names, as Docker's images have it. None when none is named.

    Raises:
        UnreadableVariable: it cannot be read, holds nothing, or the secret is given twice.
    """
    variable = f"RELAY_{setting.upper()}"
    path = os.environ.get(f"{variable}_FILE")
    if not path:
        return None
    if os.environ.get(variable):
        raise UnreadableVariable(f"{variable} and {variable}_FILE are both set; one of them is enough")
    secret = read_secret(Path(path).expanduser(), f"{variable}_FILE: {path}")
    if not secret:
        raise UnreadableVariable(f"{variable}_FILE: {path} is empty")
    return secret
