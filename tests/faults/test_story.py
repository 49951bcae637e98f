"""Stories come from their seed, and the table tells of each what it must."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.__main__ import MIX
from tests.faults.faults import FAULTS
from tests.faults.invariants import INVARIANTS
from tests.faults.lots import lots
from tests.faults.story import Plan, Told, alone, mixed
from tests.faults.table import document, story, table
from tests.faults.traffic import newest_heads, schedule
from tests.faults.upstream import git, make_upstream

NONE: dict[str, list[str]] = {name: [] for name in INVARIANTS}
FIGURES = {"runs": 3, "leases": 4, "shards": 3, "failed": 0, "infra": 0, "repeated": 1}
HELD = Told(Plan("web killed", (), 3, 1.0, 7), NONE, ["1.0 s: SIGKILL of web-1"], FIGURES, 12.0, 3.0, None)
BROKEN = replace(HELD, violations={**NONE, "shard once": [f"row {n}" for n in range(7)]}, folder=Path("/logs"))


@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_a_fault_alone_strikes_while_changes_arrive(fault: str) -> None:
    """By its seed: the same again, and another for another seed."""
    plan = alone(fault, 24, 20.0, 5)
    assert plan == alone(fault, 24, 20.0, 5) != alone(fault, 24, 20.0, 6)
    assert {name for _, name in plan.strikes} == {fault}
    assert all(0 < moment < 20 for moment, _ in plan.strikes)


def test_a_mix_has_every_fault_once_in_an_order_of_its_seed() -> None:
    plan = mixed(200, 80.0, 5)
    assert sorted(fault for _, fault in plan.strikes) == sorted(FAULTS)
    assert [moment for moment, _ in plan.strikes] == sorted(moment for moment, _ in plan.strikes)
    assert all(0 < moment < 80 for moment, _ in plan.strikes)
    assert plan == mixed(200, 80.0, 5) != mixed(200, 80.0, 6)
    assert MIX not in FAULTS


def test_webhooks_repeat_supersede_and_belong_to_commits_that_are_there(tmp_path: Path) -> None:
    upstream = make_upstream(tmp_path / "a", 60, lots(1, "x"))
    webhooks = schedule(upstream.commits, 30.0, lots(1, "y"))
    assert [each.at for each in webhooks] == sorted(each.at for each in webhooks)
    first = [each for each in webhooks if not each.again]
    again = [each for each in webhooks if each.again]
    assert len({each.delivery_id for each in first}) == len(first) >= 60
    bodies = {each.delivery_id: each.body for each in first}
    assert again
    assert all(bodies[each.delivery_id] == each.body for each in again)
    kinds = {each.delivery_id.partition("-")[0] for each in first}
    assert {"push", "opened", "synchronize"} <= kinds
    for commit in upstream.commits[:3]:
        assert git(upstream.repository, "rev-list", "--parents", "-1", commit.sha).split() == [commit.sha, commit.base]
    newest = newest_heads(webhooks)
    last = [each for each in first if each.pull == 1 and not each.delivery_id.startswith("edited")][-1]
    assert newest.get(1) == (None if last.delivery_id.startswith("closed") else last.head)
    assert 10 < len(newest) <= len([each for each in first if each.delivery_id.startswith("opened")])
    assert {commit.selects for commit in upstream.commits} == {True, False}


def test_the_table_has_a_line_for_each_story_and_a_column_for_each_invariant() -> None:
    head, held, broken = table([HELD, BROKEN]).splitlines()
    assert all(name in head for name in INVARIANTS)
    assert held.split().count("ok") == len(INVARIANTS)
    assert broken.split().count("ok") == len(INVARIANTS) - 1
    assert "7" in broken.split()
    assert HELD.holds
    assert not BROKEN.holds


def test_a_violation_is_told_with_its_rows_and_where_the_logs_are() -> None:
    told = story(BROKEN)
    assert "VIOLATED shard once: row 0" in told
    assert "and 2 more" in told
    assert "SIGKILL of web-1" in told
    assert "/logs" in told
    assert "VIOLATED" not in story(HELD)


def test_programs_get_every_row() -> None:
    (found,) = json.loads(json.dumps(document([BROKEN])))
    assert (found["fault"], found["seed"], found["holds"]) == ("web killed", 7, False)
    assert len(found["violations"]["shard once"]) == 7
