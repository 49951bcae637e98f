"""How often a test was of two minds: counted from the attempts on record, nothing stored.

The evidence is that attempts at one commit in one environment disagree, some fine and some not, within a run or over
several. Reused attempts are copies of others and count no second time.
"""

from __future__ import annotations

import json
from collections import defaultdict

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.contract import Observation, Tree
from relay.store.models import PlannedTest, Run, TestAttempt
from relay.views import FlakeRate

_FINE = frozenset({Observation.PASSED, Observation.SKIPPED})


def flake_rate(session: Session, test_id: str, device: str, *, runs: int) -> FlakeRate:
    """What the newest `runs` runs that planned this test on the device show of it."""
    newest = (
        select(PlannedTest.id, PlannedTest.run_id)
        .join(Run, Run.id == PlannedTest.run_id)
        .where(PlannedTest.test_id == test_id, Run.device == device)
        .order_by(PlannedTest.run_id.desc())
        .limit(runs)
        .subquery()
    )
    rows = session.execute(
        select(Run.id, Run.head_sha, Run.tested_base_sha, Run.tested_on, TestAttempt.tree, TestAttempt.observation)
        .join(newest, newest.c.run_id == Run.id)
        .join(TestAttempt, TestAttempt.planned_test_id == newest.c.id)
        .where(TestAttempt.reused.is_(False))
    ).all()
    minds: defaultdict[tuple[str, str], set[bool]] = defaultdict(set)
    for _, head_sha, base_sha, tested_on, tree, seen in rows:
        commit = head_sha if tree is Tree.HEAD else base_sha
        minds[commit, json.dumps(tested_on, sort_keys=True)].add(seen in _FINE)
    return FlakeRate(
        test=test_id,
        device=device,
        runs=len({row[0] for row in rows}),
        attempts=len(rows),
        commits=len(minds),
        disagreements=sum(len(mind) > 1 for mind in minds.values()),
    )
