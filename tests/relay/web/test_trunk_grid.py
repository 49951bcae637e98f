"""The grid has a column for each device or each job, and a cell shows the worst of what it stands for."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.trunk_views import Outcome, TrunkCommit, TrunkJob, TrunkResult
from relay.web.trunk_grid import Grouping, grid

AT = datetime(2026, 11, 2, tzinfo=UTC)
SELECTED = TrunkJob(where="spyre", name="selected tests", ours=True)
AUDIT = TrunkJob(where="spyre", name="audit", ours=True)
NIGHTLY = TrunkJob(where="a/backend", name="nightly / test", ours=False)


def result(job: TrunkJob, outcome: Outcome, *, broken: int = 0, attempts: int = 1, run: int | None = 7) -> TrunkResult:
    url = "" if job.ours else "https://ci.example/7"
    return TrunkResult(job=job, outcome=outcome, at=AT, attempts=attempts, broken=broken, run_id=run, url=url)


def commit(key: int, *results: TrunkResult) -> TrunkCommit:
    return TrunkCommit(key=key, sha=f"{key:040}", title="t", at=AT, results=results)


COMMITS = (
    commit(2, result(AUDIT, Outcome.PASSED), result(SELECTED, Outcome.FAILED, broken=2, attempts=3)),
    commit(1, result(NIGHTLY, Outcome.RUNNING, run=None)),
)


def test_jobs_of_a_device_are_one_column_that_shows_the_worst() -> None:
    found = grid(COMMITS, Grouping.DEVICE)
    assert [(column.where, column.name) for column in found.columns] == [("spyre", ""), ("a/backend", "")]
    first, second = (line.cells for line in found.lines)
    assert first[0] is not None
    assert (first[0].word.word, first[0].broken, first[0].url) == ("failed", 2, "/runs/7")
    assert first[0].about == ("selected tests on spyre: failed, 2 broken tests, ran 3 times; audit on spyre: passed")
    assert first[1] is None
    assert second[0] is None
    assert second[1] is not None
    assert (second[1].word.word, second[1].url) == ("running", "https://ci.example/7")


def test_each_job_can_be_a_column_under_its_device() -> None:
    found = grid(COMMITS, Grouping.JOB)
    assert [column.name for column in found.columns] == ["audit", "selected tests", "nightly / test"]
    assert found.spans == (("spyre", 2), ("a/backend", 1))
    assert [(word.word, count) for word, count in found.counts] == [("failed", 1), ("running", 1), ("passed", 1)]


def test_a_window_without_results_has_its_commits_and_no_column() -> None:
    found = grid([commit(1)], Grouping.JOB)
    assert (found.columns, found.spans, found.counts, len(found.lines)) == ((), (), (), 1)
