"""What the relay itself knows of a job beside its report: whether GitHub bore it out, whether its end is only assumed,
and in what the backend's echo differed from what was dispatched (crcr-protocol 8, W5, W7, W8).

Reads only. Of results that another relay forwarded nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.store.crcr_models import BackendJob, CrcrResult

#: Deliveries of one question, within what a database takes.
_AT_ONCE = 500

_UNKNOWN: Mapping[str, Any] = {"verified": None, "assumed": "", "mismatch": []}
_IDENTITY = (
    *(BackendJob.delivery_id, BackendJob.repo_key, BackendJob.workflow, BackendJob.job_name),
    *(BackendJob.run_id, BackendJob.run_attempt),
)


class Evidence:
    """The columns `verified`, `assumed` and `mismatch` of some rows."""

    def __init__(self, session: Session, rows: Sequence[CrcrResult]) -> None:
        self._known: dict[tuple[Any, ...], dict[str, Any]] = {}
        deliveries = sorted({row.delivery_id for row in rows})
        backends = sorted({row.repo_key for row in rows})
        for start in range(0, len(deliveries), _AT_ONCE):
            self._read(session, deliveries[start : start + _AT_ONCE], backends)

    def _read(self, session: Session, deliveries: Sequence[str], backends: Sequence[str]) -> None:
        columns = (BackendJob.verified, BackendJob.assumed, BackendJob.mismatch)
        wanted = (BackendJob.delivery_id.in_(deliveries), BackendJob.repo_key.in_(backends))
        for *identity, verified, assumed, mismatch in session.execute(select(*_IDENTITY, *columns).where(*wanted)):
            told = {"verified": verified, "assumed": assumed, "mismatch": mismatch}
            self._known[tuple(identity)] = told

    def of(self, row: CrcrResult) -> Mapping[str, Any]:
        """What is known of a row's job."""
        identity = (row.delivery_id, row.repo_key, row.workflow_name, row.job_name, row.run_id, row.run_attempt)
        return self._known.get(identity, _UNKNOWN)
