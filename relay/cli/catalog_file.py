"""Where commands keep what was read of upstream's tests: in the user's cache folder, for whatever checkout.

Kept by content, so that two checkouts share it and removing it costs seconds. Not in the state folder: a command that
only reads makes none.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from selector.catalog import CatalogFile


def user_catalog(say: Callable[[str], None]) -> CatalogFile | None:
    """The catalog of this user, None for one without a home; `say` gets a sentence when it could not be used.

    A relative `XDG_CACHE_HOME` is ignored, as the XDG base directory specification asks.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    try:
        folder = Path(base) if os.path.isabs(base) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return CatalogFile(folder / "oot-relay" / "catalog", say)
