"""The function map that a worker was given: one that cannot be used costs a log line and no selection."""

from __future__ import annotations

from pathlib import Path

import structlog

from selector.executed import FunctionMap, MapError, open_map

log = structlog.get_logger(__name__)


def usable_map(path: Path | None) -> FunctionMap | None:
    """The map in the file, if there is one. It is read for each selection: a newer one is used at once."""
    if path is None:
        return None
    try:
        return open_map(path)
    except (MapError, OSError) as error:
        log.warning("function map not used", path=str(path), error=str(error))
        return None
