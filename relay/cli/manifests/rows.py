"""A row of a resolved table as the plain data that `--json` writes. One form for all commands."""

from __future__ import annotations

import dataclasses

from selector.manifests.resolution import Resolution


def row_data(row: Resolution) -> dict[str, object]:
    """Everything but the id, which is said elsewhere."""
    data = dataclasses.asdict(row)
    del data["id"]
    return {**data, "expires": row.expires.isoformat() if row.expires else None}
