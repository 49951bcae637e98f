"""What selections missed and is remembered for good, as readers get it: a changed file tied to a test by experience."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from relay.contract.texts import WHOLE
from relay.views import Page, View

#: Edges that one request forgets.
REMOVALS_CAP = 500

_EDGE: dict[str, JsonValue] = {
    "id": 17,
    "device": "spyre",
    "changed_path": "torch/functional.py",
    "base_test": "test/test_ops.py::TestOps::test_relu",
    "evidence": "missed by the selection of run 128: broke in the audit of run 140",
    "run_id": 128,
    "created_at": "2026-11-02T10:00:00Z",
}


class EdgeView(View):
    """Changes of `changed_path` run `base_test`, since the selection of run `run_id` had missed it."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_EDGE]})

    id: int
    device: str
    changed_path: str
    base_test: str
    evidence: str
    run_id: int
    created_at: datetime


class EdgePage(Page):
    """`GET /api/v1/edges`, newest first. `total` of them fit the question."""

    model_config = ConfigDict(
        frozen=True, json_schema_extra={"examples": [{"edges": [_EDGE], "total": 1, "next": None}]}
    )

    edges: tuple[EdgeView, ...]
    total: int


class EdgeRemoval(BaseModel):
    """Which edges to forget, by number."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_extra={"examples": [{"ids": [17]}]})

    ids: Annotated[
        tuple[Annotated[int, Field(ge=1, le=2**31 - 1), WHOLE], ...], Field(min_length=1, max_length=REMOVALS_CAP)
    ]


class RemovedEdges(View):
    """What was forgotten, and which numbers no edge has."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [{"removed": [_EDGE], "unknown": [18]}]})

    removed: tuple[EdgeView, ...]
    unknown: tuple[int, ...]
