"""Whoever started a run by a comment reads in the same comment what became of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from relay.comments import endings
from tests.relay.comments.scene import BROKEN, OTHER, Scene
from tests.relay.stories import planned, regressed, report_of


def test_a_red_end_names_the_tests_and_the_next_step(shared: Scene) -> None:
    shared.finished_run()
    shared.comment("/relay retest")
    assert shared.end() == 0
    shared.finish_newest(OTHER)
    assert shared.end() == 1
    made = shared.newest()
    link = f"[run {made.id}](https://relay.example/runs/{made.id})"
    assert shared.ours().endswith(
        f"✗ {link} failed: `{made.headline}`\n\n```text\nregression  {OTHER}\n```\n\n"
        "`/relay retest` runs them again, `/relay why TEST` says why one ran."
    )
    (only,) = shared.github.comments_by_id.values()
    assert only.writes == 2
    assert shared.end() == 0


def test_a_green_end_is_one_line(scene: Scene) -> None:
    scene.finished_run()
    scene.comment("/relay retest")
    scene.finish_newest()
    scene.end()
    assert (
        scene.ours().splitlines()[-1].startswith("✓ [run 2](https://relay.example/runs/2) succeeded: `Nothing breaks")
    )


def test_a_run_that_is_called_off_is_told_under_its_own_answer(scene: Scene) -> None:
    """An earlier answer by then, so it is in the fold."""
    scene.finished_run()
    scene.comment("/relay retest")
    scene.comment("/relay cancel")
    scene.end()
    newest, _, folded = scene.ours().partition("<details>")
    assert "was cancelled" not in newest
    assert "was cancelled: `Cancelled by maintainer in a comment.`" in folded


def test_runs_that_no_comment_started_are_not_told(scene: Scene) -> None:
    scene.comment("/relay help")
    scene.finished_run()
    assert scene.end() == 0


def test_many_failures_are_counted(scene: Scene) -> None:
    scene.pull()
    scene.comment("/relay test")
    tests = [f"test/test_ops.py::TestOpsSPYRE::test_{number}_spyre" for number in range(30)]
    scene.story.select(report_of([[planned(test) for test in tests]]))
    scene.story.run_all({test: regressed(test, "no") for test in tests})
    scene.end()
    assert scene.ours().count("regression  ") == 10
    assert "20 more are in [run 1]" in scene.ours()


def test_replicas_tell_once(shared: Scene) -> None:
    shared.finished_run()
    shared.comment("/relay retest")
    shared.finish_newest(BROKEN)
    with ThreadPoolExecutor(4) as pool:
        told = sum(pool.map(lambda _: endings.tell(shared.context), range(8)))
    assert told == 1
    shared.drain()
    (only,) = shared.github.comments_by_id.values()
    assert only.writes == 2
