"""What an operator does with runs, for the API and the pages alike: done, written to the audit log, workers woken.

Commits first and wakes afterwards, so that nobody is woken for what is not in the record yet. Who may is settled by
then (`relay.web.auth`, `relay.web.forms`).
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.access.actions import Actor, record_action
from relay.context import RelayContext
from relay.runs.creation import cancel_run, rerun
from relay.runs.queries import run_summary
from relay.views import RunSummary

FULL_BY_OPERATOR = "an operator asked for every test"


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
        run = rerun(session, run_id, context.now(), failed_only=failed, full=reason, tests=tests)
        what = "every test" if full else "the failed tests" if failed else _named(tests)
        detail = f"{what}, as run {run.id}"
        record_action(session, actor, "run.rerun", context.now(), subject=f"run {run_id}", detail=detail, run_id=run_id)
        summary = run_summary(session, run.id, context.settings.public_url)
    context.waker.wake(summary.device)
    return summary


def _named(tests: Sequence[str]) -> str:
    if not tests:
        return "all of it"
    return tests[0] if len(tests) == 1 else f"{len(tests)} tests by name"


def call_run_off(context: RelayContext, actor: Actor, run_id: int) -> RunSummary:
    """The run, cancelled for `actor` if it was not over. Raises NotFoundError."""
    with context.store.writing() as session:
        cancel_run(session, run_id, context.now(), "Cancelled by an operator.")
        record_action(session, actor, "run.cancel", context.now(), subject=f"run {run_id}", run_id=run_id)
        return run_summary(session, run_id, context.settings.public_url)
