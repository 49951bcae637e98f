"""Results as another relay forwards them, and what readers then see: for the rows about results and pages."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import httpx2 as httpx
from sqlalchemy import select

from relay.store.crcr_models import CrcrResult
from tests.conformance.payloads import S1
from tests.conformance.world import World
from tests.relay.hud.reports import envelope, pull

RESULTS = "/api/crcr/results"
KEY = "key-of-our-own-results"
PROBE = "pytorch/crcr-test"


def post(world: World, report: object, *, key: str | None = KEY) -> httpx.Response:
    """Forward a report. Bytes go as they are."""
    content = report if isinstance(report, bytes) else json.dumps(report).encode()
    headers = {"Content-Type": "application/json"} | ({} if key is None else {"x-hud-internal-bot": key})
    return world.client.post(RESULTS, content=content, headers=headers)


def posted(world: World, *arguments: Any, **report: Any) -> CrcrResult:
    """Forward a report that is good, and look at its row."""
    before = {row.id: row.updated_at for row in rows(world)}
    world.clock.tick(1)
    answer = post(world, envelope(*arguments, **report))
    assert answer.status_code == 200, answer.text
    (changed,) = [row for row in rows(world) if before.get(row.id) != row.updated_at]
    return changed


def rows(world: World) -> Sequence[CrcrResult]:
    """The results store, the oldest row first."""
    with world.session() as session:
        return session.scalars(select(CrcrResult).order_by(CrcrResult.id)).all()


def job(
    world: World,
    conclusion: str | None = "success",
    *,
    ago: timedelta = timedelta(hours=1),
    pr: int = 7,
    sha: str = S1,
    **report: Any,
) -> None:
    """One job that started some time ago and took a minute; `conclusion` None: it is still running. Each commit of each
    pull request has a delivery of its own."""
    start = world.clock() - ago
    told: dict[str, Any] = {"started_at": start.isoformat(), "delivery": f"{pr}-{sha}"}
    told["payload"] = pull(pr, sha) if pr else {"head_sha": sha}
    if conclusion is not None:
        told |= {"completed_at": (start + timedelta(minutes=1)).isoformat(), "conclusion": conclusion}
    world.clock.tick(1)
    answer = post(world, envelope("in_progress" if conclusion is None else "completed", **(told | report)))
    assert answer.status_code == 200, answer.text


def ask(world: World, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """The rows of a saved query, as the dashboard asks for them."""
    answer = world.client.get(f"/api/clickhouse/{query}", params={"parameters": json.dumps(parameters)})
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found
