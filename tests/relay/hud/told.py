"""Jobs as they are found in the results store: each told by one report, at a moment relative to now."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from relay.hud.queries import Asked, run_query
from relay.hud.recording import record_result
from relay.store.engine import Store
from tests.relay.hud.reports import envelope, pull

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)
PROBE = "pytorch/crcr-test"


def told(
    store: Store,
    conclusion: str | None = "success",
    *,
    ago: timedelta = timedelta(hours=1),
    took: timedelta | None = timedelta(minutes=10),
    pr: int = 7,
    sha: str = "a" * 40,
    **report: Any,
) -> None:
    """One job that started some time ago. `conclusion` None: it is still running. Each pull request's commit has a
    delivery of its own."""
    start = NOW - ago
    times: dict[str, Any] = {"started_at": start.isoformat()}
    if conclusion is not None and took is not None:
        times |= {"completed_at": (start + took).isoformat(), "conclusion": conclusion}
    elif conclusion is not None:
        times |= {"conclusion": conclusion}
    report = {"delivery": f"{pr}-{sha}"} | report
    status = "in_progress" if conclusion is None else "completed"
    payload = report.pop("payload", pull(pr, sha) if pr else {"head_sha": sha})
    with store.writing() as session:
        record_result(
            session, envelope(status, payload=payload, **(times | report)), NOW if ago < timedelta(0) else start
        )


def ask(store: Store, query: str, **parameters: Any) -> list[dict[str, Any]]:
    """The rows of a saved query."""
    with store.reading() as session:
        return run_query(query, json.dumps(parameters), Asked(session, NOW))
