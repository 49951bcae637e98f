"""The edges of the stand-in: as many as a test gives it, in pages by a cursor of its own."""

from __future__ import annotations

from datetime import UTC, datetime

from fastapi import FastAPI

from relay.edge_views import EdgePage, EdgeRemoval, EdgeView, RemovedEdges


def an_edge(number: int, run_id: int = 1) -> EdgeView:
    """A test of relu that a change of functional.py broke unseen."""
    return EdgeView(
        id=number,
        device="spyre",
        changed_path="torch/functional.py",
        base_test=f"test/test_ops.py::TestOps::test_relu_{number}",
        evidence=f"missed by the selection of run {run_id}: broke by lot",
        run_id=run_id,
        created_at=datetime(2024, 5, 4, 10, 0, tzinfo=UTC),
    )


def add_edge_routes(app: FastAPI, held: list[EdgeView]) -> None:
    """Listing and removing."""

    @app.get("/api/v1/edges")
    def edges(q: str = "", run: int | None = None, limit: int = 100, cursor: int = 2**31) -> EdgePage:
        fitting = [it for it in held if q in it.changed_path + it.base_test and run in {None, it.run_id}]
        rest = sorted((it for it in fitting if it.id < cursor), key=lambda it: -it.id)
        more = f"/api/v1/edges?limit={limit}&cursor={rest[limit - 1].id}" if len(rest) > limit else None
        return EdgePage(edges=tuple(rest[:limit]), total=len(fitting), next=more)

    @app.post("/api/v1/edges/remove")
    def remove(wanted: EdgeRemoval) -> RemovedEdges:
        removed = tuple(it for it in held if it.id in wanted.ids)
        held[:] = [it for it in held if it not in removed]
        return RemovedEdges(removed=removed, unknown=tuple(set(wanted.ids) - {it.id for it in removed}))
