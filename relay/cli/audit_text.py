"""The words of `relay audit`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.audit_views import AuditView


def started(audit_id: int, base: str, head: str) -> str:
    return f"audit {audit_id} runs every test on {head[:10]}, against {base[:10]}"


def no_audits() -> str:
    return "no audit yet; `relay audit start` starts one, RELAY_AUDIT_AT one a day"


def headline(audit: AuditView) -> str:
    """One sentence: the state, and what was found."""
    missed = sum(test.missed_by is not None for test in audit.tests)
    rate = audit.false_green_rate
    share = "" if rate is None else f" (false green {rate:.1%})"
    found = f"{len(audit.tests)} newly broken, {missed} missed by a selection{share}"
    return f"audit {audit.id} of {audit.head_sha[:10]} is {audit.state.replace('_', ' ')}: {found}"
