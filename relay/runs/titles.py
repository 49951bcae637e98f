"""Titles of pull requests that the relay heard of itself, so that a page about them need not ask GitHub."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.store.models import Run


def known_titles(session: Session, repo: str, numbers: Collection[int]) -> dict[int, str]:
    """By number, as the newest run of each was told; untrusted text. Nothing of one that was never run."""
    newest = (
        select(func.max(Run.id)).where(Run.repo == repo, Run.pr_number.in_(sorted(numbers))).group_by(Run.pr_number)
    )
    rows = session.execute(select(Run.pr_number, Run.title).where(Run.id.in_(newest)))
    return {number: title for number, title in rows if number is not None and title}
