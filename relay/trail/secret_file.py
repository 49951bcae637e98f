"""One file that holds one secret. Its content never appears in an error.

Owns the variables that name such a file: `RELAY_<SETTING>_FILE`.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pydantic_settings import SettingsError as UnreadableVariable

_MAX_BYTES = 64 * 1024


def read_secret(file: Path, called: str) -> str:
    """The secret of a file, without the white space and the mark of an encoding that editors leave. `called` is the
    file's name for people.

    Raises:
        UnreadableVariable: it cannot be read, is too large, or is no text.
    """
    try:
        # A named pipe that nobody writes to would be waited for.
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            content = stream.read(_MAX_BYTES + 1) or b""
        if len(content) > _MAX_BYTES:
            raise UnreadableVariable(f"{called} is larger than {_MAX_BYTES // 1024} KiB")
        return content.decode("utf-8-sig").strip()
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


def open_to_others(file: Path) -> bool:
    """Whether users of no concern may read this file, and its owner, who runs this, could have it otherwise: what is
    mounted into a container often belongs to another, and is readable so that it can be read at all."""
    try:
        found = file.stat()
    except OSError:
        return False
    return bool(found.st_mode & stat.S_IROTH) and found.st_uid == os.geteuid() and _reached(file)


def _reached(file: Path) -> bool:
    """Whether others may pass all folders above."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in file.absolute().parents)
