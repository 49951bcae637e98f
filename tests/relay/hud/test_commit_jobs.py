"""On a commit of the branch every job of a backend has one answer, its newest; those of pull requests have none."""

from __future__ import annotations

from datetime import timedelta

from relay.hud.commit_jobs import jobs_on
from relay.store.engine import Store
from relay.trunk_views import Outcome
from tests.relay.hud.told import told

SHA = "b" * 40


def test_the_newest_report_of_a_job_answers(store: Store) -> None:
    told(store, "failure", pr=0, sha=SHA, ago=timedelta(hours=3), run_id="100")
    told(store, "success", pr=0, sha=SHA, ago=timedelta(hours=2), run_id="101")
    told(store, None, pr=0, sha=SHA, ago=timedelta(hours=1), job_name="test", run_id="101")
    told(store, "success", pr=0, sha=SHA, repo="a/other")
    told(store, "failure", pr=4, sha=SHA, repo="a/pull")
    with store.reading() as session:
        found = {(one.job.where, one.job.name): one for one in jobs_on(session, [SHA, "c" * 40])[SHA]}
    assert {key: (one.outcome, one.attempts) for key, one in found.items()} == {
        ("a/l2", "CI / build"): (Outcome.PASSED, 2),
        ("a/l2", "CI / test"): (Outcome.RUNNING, 1),
        ("a/other", "CI / build"): (Outcome.PASSED, 1),
    }
    assert found["a/other", "CI / build"].url.startswith("https://github.com/a/")


def test_an_end_that_says_nothing_is_no_answer(store: Store) -> None:
    """Only what is called a success is one."""
    for number, (conclusion, outcome) in enumerate(
        {
            "failure": Outcome.FAILED,
            "timed_out": Outcome.UNFINISHED,
            "cancelled": Outcome.CANCELLED,
            "skipped": Outcome.SKIPPED,
            "neutral": Outcome.NO_ANSWER,
        }.items()
    ):
        sha = f"{number:040}"
        told(store, conclusion, pr=0, sha=sha)
        with store.reading() as session:
            assert [one.outcome for one in jobs_on(session, [sha])[sha]] == [outcome]
