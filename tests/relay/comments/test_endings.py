"""Whoever started a run by a comment reads in the same comment what became of it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.comments import endings
from relay.comments.page import put_up
from relay.comments.senders import senders
from relay.outbox.types import Sent
from relay.store.comment_models import CommentAnswer
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState
from tests.relay.comments.scene import BROKEN, OTHER, Scene
from tests.relay.meanwhile import meanwhile
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


def test_an_end_that_is_told_while_another_comment_is_answered_leaves_that_answer(shared: Scene) -> None:
    """The answer is not committed yet when the sweep comes."""
    shared.finished_run()
    shared.comment("/relay retest")
    shared.finish_newest(BROKEN)
    helped = shared.told("/relay help")

    def answered(session: Session) -> None:
        letters = select(OutboxItem).where(OutboxItem.kind == OutboxKind.COMMAND, OutboxItem.state == OutboxState.DUE)
        letter = session.scalars(letters).one()
        sender = senders(shared.context)[OutboxKind.COMMAND]
        sender.settle(session, letter, Sent({"permission": "", "pulls": {}}), shared.clock())
        letter.state = OutboxState.SENT

    assert meanwhile(shared.context.store, answered, lambda: endings.tell(shared.context)) == 1
    shared.drain()
    assert f"#issuecomment-{helped})" in shared.ours()
    assert "failed: `" in shared.ours()


def test_a_comment_that_is_answered_while_an_end_is_told_leaves_that_end(shared: Scene) -> None:
    """The end is not committed yet when the outbox carries the command out."""
    shared.comment("/relay approve")
    helped = shared.told("/relay help")

    def ended(session: Session) -> None:
        answer = session.scalars(select(CommentAnswer)).one()
        answer.ending = "This is what became of it."
        put_up(session, shared.context.settings, answer, shared.clock(), "ended")

    meanwhile(shared.context.store, ended, shared.drain)
    shared.drain()
    assert f"#issuecomment-{helped})" in shared.ours()
    assert "This is what became of it." in shared.ours()


def test_ends_are_told_beside_one_who_answers_on_the_same_pull_requests(shared: Scene) -> None:
    """In another order: nobody waits for somebody who waits for him."""
    shared.finished_run()
    run = shared.newest().id
    with shared.context.store.writing() as session:
        for number in (1, 2):
            session.add(an_answer(shared, number, awaited_run_id=run))

    def answered(number: int) -> Callable[[Session], None]:
        def put(session: Session) -> None:
            answer = an_answer(shared, number, comment_id=10 + number)
            session.add(answer)
            put_up(session, shared.context.settings, answer, shared.clock(), "answered")

        return put

    assert meanwhile(shared.context.store, answered(2), lambda: endings.tell(shared.context), answered(1)) == 2


def an_answer(scene: Scene, pull: int, **more: Any) -> CommentAnswer:
    known = {"repo": "o/r", "repo_key": "o/r", "pr_number": pull, "comment_id": pull, "login": "one", "answer": ""}
    return CommentAnswer(**{**known, "at": scene.clock(), **more})
