"""What selections missed, kept until a person forgets it: the files of a change, and the test that it broke unseen.

Owns which files of a change count as a cause, and the bounds of the record. What is kept can only bring a test back
into a selection; nothing here leaves one out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.store.models import MissedEdge, Run, Selection
from relay.store.upsert import insert_into

#: Files of a change that are each remembered; of a larger change it is not known at all which of them it was.
MOST_CAUSES = 200
#: Tests remembered of one run: a change that breaks everything says nothing of what its files break, and these stay.
MOST_TESTS = 100
#: Edges in one answer, the oldest first, so that the answer does not change while the record grows.
MAX_ANSWER = 5_000
#: Categories (`relay.contract.ChangedFile`) of files that break no other test: the test itself, and prose.
_NO_CAUSE = frozenset({"test", "docs"})
# PostgreSQL's index entries end near 2,700 bytes, and the device is in them too.
_EDGE_BYTES = 2_200
#: PostgreSQL and SQLite take some thousand parameters in a statement.
_PATHS_AT_ONCE = 500


def remember_miss(session: Session, run: Run, base_test: str, evidence: str, now: datetime) -> str:
    """Keep that the selection of `run` missed a test that its change broke; a sentence that says what is kept."""
    if _remembered(session, run.id) >= MOST_TESTS:
        return f"Nothing is remembered of it: {MOST_TESTS} tests that this selection missed are already."
    causes = _causes(session, run.id)
    told = f"missed by the selection of run {run.id}: {evidence}"
    kept = record_miss(
        session,
        device=run.device,
        changed_paths=causes,
        base_test=base_test,
        evidence=told,
        run_id=run.id,
        now=now,
    )
    if kept:
        return f"It runs with the {kept} changed file(s) from now on."
    return f"Nothing is remembered of it: {len(causes)} changed files can be the cause, which is none or too many."


def record_miss(
    session: Session,
    *,
    device: str,
    changed_paths: Iterable[str],
    base_test: str,
    evidence: str,
    run_id: int,
    now: datetime,
) -> int:
    """Keep that changes of these files break the test; how many of the files are on record then. What is on record
    already stays as it is. Of more than `MOST_CAUSES` files nothing is kept."""
    paths = sorted({path for path in changed_paths if _fits(path, base_test)})
    if not paths or len(paths) > MOST_CAUSES:
        return 0
    same = {"device": device, "base_test": base_test, "evidence": evidence, "run_id": run_id, "created_at": now}
    # In one order everywhere, so that two transactions which keep the same rows do not wait for each other in a circle.
    rows = [{"changed_path": path, **same} for path in paths]
    session.execute(insert_into(session, MissedEdge).values(rows).on_conflict_do_nothing())
    return len(paths)


def missed_with(session: Session, device: str, paths: Sequence[str]) -> list[MissedEdge]:
    """The tests that were missed when one of `paths` changed, by path and test."""
    wanted = sorted(set(paths))
    found: list[MissedEdge] = []
    for start in range(0, len(wanted), _PATHS_AT_ONCE):
        asked = MissedEdge.changed_path.in_(wanted[start : start + _PATHS_AT_ONCE])
        query = select(MissedEdge).where(MissedEdge.device == device, asked).order_by(MissedEdge.id)
        found += session.scalars(query.limit(MAX_ANSWER))
    oldest = sorted(found, key=lambda edge: edge.id)[:MAX_ANSWER]
    return sorted(oldest, key=lambda edge: (edge.changed_path, edge.base_test))


def _remembered(session: Session, run_id: int) -> int:
    counted = select(func.count(MissedEdge.base_test.distinct())).where(MissedEdge.run_id == run_id)
    return session.scalar(counted) or 0


def _causes(session: Session, run_id: int) -> list[str]:
    changed = session.scalar(select(Selection.changed_files).where(Selection.run_id == run_id)) or []
    return [file["path"] for file in changed if file["category"] not in _NO_CAUSE]


def _fits(path: str, base_test: str) -> bool:
    return len(f"{path}{base_test}".encode(errors="replace")) <= _EDGE_BYTES
