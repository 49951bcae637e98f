"""A change in one answer, for readers who are programs: what it broke and why, within bounds. Reads only."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.orm import Session

from relay.change_views import ChangeView, DeviceAnswer
from relay.runs.base_comparison import compare_with_base
from relay.runs.changes import Change, answer_of, count_groups, current, glimpse_groups
from relay.runs.device_verdicts import device_verdicts
from relay.runs.queries import summaries


def change_view(
    session: Session, change: Change, public_url: str, *, limit: int, on: Mapping[str, Change]
) -> ChangeView:
    """The change with at most `limit` tests of each group, in a fixed number of queries for each device; `on` has it as
    all of them have it."""
    runs = summaries(session, change.runs, public_url)
    answer = answer_of(change.heads[0])
    return ChangeView(
        repo=change.repo,
        pr_number=answer.run.pr_number,
        head_sha=answer.run.head_sha,
        run=next(run for run in runs if run.id == answer.run.id),
        repeats=answer.ids[1:],
        counts=dict(count_groups(session, answer)),
        tests=dict(glimpse_groups(session, answer, limit=limit)),
        base=compare_with_base(session, current(answer)),
        runs=runs,
        cut=change.cut,
        devices=tuple(
            DeviceAnswer(device=told.device, run=told.run, counts=dict(told.counts))
            for told in device_verdicts(session, on, public_url)
        ),
    )
