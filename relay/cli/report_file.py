"""Writes a report that comes piece by piece to a file or to standard output. A file is there whole or not at all."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from relay.cli import report_text
from relay.failures import Failure


class ReportUnwritable(Failure):
    """The file cannot be written; nothing of it is changed."""

    code = "report_unwritable"


def write_report(pieces: Iterable[bytes], file: str) -> int:
    """How many bytes were written. Raises `ReportUnwritable`, and whatever reading the pieces raises."""
    if file == "-":
        return sum(sys.stdout.buffer.write(piece) for piece in pieces)
    target = Path(file).resolve()  # a link stays a link
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".") as folder:
            draft = Path(folder, target.name)
            with draft.open("wb") as part:
                size = sum(part.write(piece) for piece in pieces)
            draft.replace(target)
    except OSError as error:
        message = report_text.report_unwritable(file, error.strerror or str(error))
        raise ReportUnwritable(message, report_text.report_unwritable_hint()) from error
    return size
