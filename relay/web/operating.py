"""What an operator does with runs, for the API and the pages alike: done, written to the audit log, workers woken.

Commits first and wakes afterwards, so that nobody is woken for what is not in the record yet. Who may is settled by
then (`relay.web.auth`, `relay.web.forms`).
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.access import run_actions
from relay.access.actions import Actor
from relay.access.run_actions import FULL_BY_OPERATOR
from relay.context import RelayContext
from relay.runs.queries import run_summary
from relay.views import RunSummary


def run_again(
    context: RelayContext,
    actor: Actor,
    run_id: int,
    *,
    failed: bool = False,
    full: bool = False,
    tests: Sequence[str] = (),
) -> RunSummary:
    """A new run of the same change, opened for `actor`. Raises as `relay.runs.creation.rerun`."""
    reason = FULL_BY_OPERATOR if full else ""
    with context.store.writing() as session:
        run = run_actions.run_again(session, actor, run_id, context.now(), failed=failed, full=reason, tests=tests)
        summary = run_summary(session, run.id, context.settings.public_url)
    context.waker.wake(summary.device)
    return summary


def call_run_off(context: RelayContext, actor: Actor, run_id: int) -> RunSummary:
    """The run, cancelled for `actor` if it was not over. Raises NotFoundError."""
    with context.store.writing() as session:
        run_actions.call_run_off(session, actor, run_id, context.now())
        return run_summary(session, run_id, context.settings.public_url)
