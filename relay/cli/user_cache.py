"""What commands keep between calls, in the user's cache folder, for whatever checkout: tests and commits as read.

Kept by content and by commit, so that two checkouts share it and removing it costs seconds. Not in the state folder: a
command that only reads makes none.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from relay.cli import function_map_text
from relay.cli.change import LocalChange
from relay.failures import Failure
from selector.catalog import CatalogFile
from selector.executed import FunctionMap, MapError, open_map
from selector.history import read_history
from selector.known import ExecutedFunctions, Known


class BadMap(Failure):
    """The function map that was named cannot be used."""

    code = "bad_map"


def user_catalog(say: Callable[[str], None]) -> CatalogFile | None:
    """The catalog of this user, None for one without a home; `say` gets a sentence when it could not be used."""
    folder = _folder()
    return None if folder is None else CatalogFile(folder / "catalog", say)


@contextmanager
def local_known(
    change: LocalChange, say: Callable[[str], None], executed: ExecutedFunctions | None = None
) -> Iterator[Known]:
    """What a checkout knows of its past, which files changed together before the change, and a function map."""
    folder = _folder()
    if folder is None:
        yield Known(executed=executed)
        return
    with read_history(folder / "history", change.repo, change.base, say) as history:
        yield Known(history=history, executed=executed)


def read_map(path: Path | None) -> FunctionMap | None:
    """The function map that was asked for. Raises `BadMap`."""
    if path is None:
        return None
    try:
        return open_map(path)
    except (MapError, OSError) as error:
        why = str(error) if isinstance(error, MapError) else str(error.strerror)
        raise BadMap(function_map_text.unreadable(str(path), why), function_map_text.unreadable_hint()) from error


def _folder() -> Path | None:
    """A relative `XDG_CACHE_HOME` is ignored, as the XDG base directory specification asks."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "oot-relay"
    except RuntimeError:
        return None
