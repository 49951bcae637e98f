"""Writes what a command made to a file, with one sentence where that does not work."""

from __future__ import annotations

import tempfile
from pathlib import Path

from relay.cli.manifests import text
from relay.failures import Failure


class NotWritten(Failure):
    """A file can not be written; nothing of it is changed."""

    code = "not_written"


def write_file(path: Path, content: str) -> None:
    """Put the content in the place of a file in one step, so that a service which reads it meets no half of it.

    Raises NotWritten.
    """
    target = path.resolve()  # a link stays a link
    try:
        mode = target.stat().st_mode & 0o777 if target.exists() else 0o644
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
            draft = Path(folder, target.name)
            draft.write_bytes(content.encode())
            draft.chmod(mode)
            draft.replace(target)
    except OSError as error:
        raise NotWritten(text.not_written(str(path), error.strerror or str(error)), text.not_written_hint()) from error
