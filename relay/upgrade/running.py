"""Has the tests of a report run on both of its releases, by the workers that run everything else.

Two runs are opened, each of one commit without a change in it, in the environment that has the release's torch. A run
of the same tests on the same release is there once: what one report had run on a release is another's base. Works
inside the caller's writing session and wakes nobody.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.errors import ConflictError, NotFoundError
from relay.queue_views import WorkClass
from relay.runs.creation import NewRun, open_run
from relay.runs.queries import run_summary
from relay.store.models import Run, Trigger
from relay.store.upgrade_models import Upgrade, UpgradeTest
from relay.upgrade.document import OutcomesPart
from relay.upgrade.releases import release_in
from relay.upgrade.views import ExecutionAsked, ExecutionView, TestChange
from relay.views import RunState

_SHA = re.compile(r"[0-9a-f]{40}")
_CALLED_OFF = frozenset({RunState.CANCELLED, RunState.FAILED})
#: Base tests of one execution. Each has up to hundreds of variants.
TESTS_CAP = 10_000


@dataclass(frozen=True, slots=True)
class Side:
    """One release of a report: its name and commit, the torch it needs, and what its tests are called there."""

    name: str
    commit: str
    release: str
    tests: tuple[str, ...]


def not_run(upgrade_id: int) -> NotFoundError:
    """Nobody asked for it yet."""
    return NotFoundError(
        f"The tests of upgrade report {upgrade_id} were not run.",
        f"POST /api/v1/upgrades/{upgrade_id}/execution runs them on both releases, as relay upgrade --run does.",
    )


def open_execution(
    session: Session, upgrade: Upgrade, asked: ExecutionAsked, upstream_repo: str, now: datetime
) -> tuple[Run, Run]:
    """The runs on the older and on the newer release. Those that the report has are kept while they go on or ended
    well.

    Raises:
        ConflictError: the report is not about commits of `upstream_repo`, does not say which releases they are, or has
            no test of the kinds asked for.
    """
    if (known := _known(session, upgrade)) is not None:
        return known
    _check_origin(upgrade, upstream_repo)
    sides = _sides(session, upgrade, asked)
    base, head = (_opened(session, upgrade, side, upstream_repo, now) for side in sides)
    upgrade.base_run_id, upgrade.head_run_id, upgrade.outcomes = base.id, head.id, None
    return base, head


def execution_view(session: Session, upgrade: Upgrade, url: str) -> ExecutionView:
    """Both runs and what came of them. Raises NotFoundError when nobody asked for it yet."""
    if upgrade.base_run_id is None or upgrade.head_run_id is None:
        raise not_run(upgrade.id)
    return ExecutionView(
        base=run_summary(session, upgrade.base_run_id, url),
        head=run_summary(session, upgrade.head_run_id, url),
        outcomes=None if upgrade.outcomes is None else OutcomesPart.model_validate(upgrade.outcomes),
    )


def _known(session: Session, upgrade: Upgrade) -> tuple[Run, Run] | None:
    if upgrade.base_run_id is None or upgrade.head_run_id is None:
        return None
    runs = session.get_one(Run, upgrade.base_run_id), session.get_one(Run, upgrade.head_run_id)
    return None if any(run.state in _CALLED_OFF for run in runs) else runs


def _check_origin(upgrade: Upgrade, upstream_repo: str) -> None:
    if not (_SHA.fullmatch(upgrade.base_commit) and _SHA.fullmatch(upgrade.head_commit)):
        raise ConflictError(
            "The report compares trees that are no commits, which no worker can check out.",
            "Make it of two revisions: relay upgrade --repo CLONE --from REVISION --to REVISION.",
            code="no_commits",
        )
    named = upgrade.repository.removesuffix(".git").rstrip("/").lower()
    if named and not named.endswith(f"/{upstream_repo.lower()}"):
        raise ConflictError(
            f"The report is about {upgrade.repository}, and this relay's workers check out {upstream_repo}.",
            "RELAY_UPSTREAM_REPO names the repository whose tests this relay runs.",
            code="other_repository",
        )


def _sides(session: Session, upgrade: Upgrade, asked: ExecutionAsked) -> tuple[Side, Side]:
    base_release = asked.base_release or release_in(upgrade.base)
    head_release = asked.head_release or release_in(upgrade.head)
    if not (base_release and head_release):
        raise ConflictError(
            f"{upgrade.base} and {upgrade.head} do not say which torch their tests need.",
            "Name both, for example with base_release 2.13 and head_release 2.14.",
            code="no_release",
        )
    query = select(UpgradeTest).where(UpgradeTest.upgrade_id == upgrade.id, UpgradeTest.duty.in_(sorted(asked.duties)))
    rows = session.scalars(query.order_by(UpgradeTest.id).limit(TESTS_CAP)).all()
    before = _names(row.body.get("former") or row.test for row in rows if row.change != TestChange.ADDED)
    after = _names(row.test for row in rows if row.change != TestChange.REMOVED)
    if not (before and after):
        raise ConflictError(
            "The report has no test of these kinds that is on both releases.",
            f"Its page shows what it has: /upgrades/{upgrade.id}.",
            code="nothing_to_run",
        )
    return (
        Side(upgrade.base, upgrade.base_commit, base_release, before),
        Side(upgrade.head, upgrade.head_commit, head_release, after),
    )


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _opened(session: Session, upgrade: Upgrade, side: Side, upstream_repo: str, now: datetime) -> Run:
    """The run of these tests on this release that goes on or ended well, else a new one."""
    identity = f"release:{upgrade.device}:{side.commit}:{side.release}:{_digest(side.tests)}"
    before = session.scalars(
        select(Run).where(Run.identity.startswith(identity, autoescape=True)).order_by(Run.id)
    ).all()
    lasting = [run for run in before if run.state not in _CALLED_OFF]
    if lasting:
        return lasting[-1]
    new = NewRun(
        identity=f"{identity}:{len(before)}",
        repo=upstream_repo,
        kind="release",
        base_sha=side.commit,
        head_sha=side.commit,
        device=upgrade.device,
        trigger=Trigger.MANUAL,
        title=f"Tests of upgrade report {upgrade.id} on {side.name}"[:500],
        attempt=len(before) + 1,
        only=side.tests,
        release=side.release,
        work_class=WorkClass.AUDIT,
    )
    return open_run(session, new, now)


def _digest(tests: Sequence[str]) -> str:
    return hashlib.sha256("\0".join(sorted(tests)).encode()).hexdigest()[:32]
