"""Each command does what the operator's action does, is in the audit log with the login, and says what came of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relay.github.types import GitHubError
from relay.store.models import Trigger
from relay.views import RunState
from tests.relay.comments.scene import BACKEND, BROKEN, FINE, HEAD, LEFT_OUT, OTHER, PR, Scene
from tests.relay.stories import REPO

NEXT = "3" * 40


def test_retest_runs_the_failed_tests_again(scene: Scene) -> None:
    old = scene.finished_run()
    scene.comment("/relay retest")
    made = scene.newest()
    assert (made.trigger, made.rerun_of, set(made.only)) == (Trigger.RERUN, old, {BROKEN, OTHER})
    assert scene.actions() == [("maintainer", "comment", "run.rerun", old)]
    assert scene.answer() == (
        f"`/relay retest`\n✓ [run {made.id}](https://relay.example/runs/{made.id}) runs the 2 failed tests of "
        f"[run {old}](https://relay.example/runs/{old}) again."
    )
    assert scene.waker.woken == [("spyre", 2)]


def test_a_command_is_about_the_first_device_unless_it_names_another(scene: Scene) -> None:
    scene.comment("/relay help")
    assert "**oot-relay** for `spyre`;" in scene.ours()
    scene.context = replace(
        scene.context,
        settings=scene.context.settings.model_copy(update={"backends": "described-elsewhere"}),
        backends=(*scene.context.backends, replace(scene.context.backends[0], device="quartz")),
    )
    scene.renew()
    scene.pull()
    scene.finished_run()
    scene.comment("/relay retest on quartz")
    assert "no run of" in scene.answer().lower()
    assert "**oot-relay**;" in scene.ours()
    scene.comment("/relay test on quartz")
    made = scene.newest()
    assert (made.device, made.rerun_of, made.head_sha) == ("quartz", None, HEAD)
    assert scene.waker.woken == [("quartz", 2)]
    scene.comment("/relay test on basalt")
    assert "Nothing is tested on `basalt` here. The devices are `spyre`, `quartz`." in scene.answer()
    scene.comment("/relay test")
    assert (scene.newest().device, scene.newest().trigger) == ("spyre", Trigger.RERUN)
    scene.comment("/relay cancel on quartz")
    assert [run.state for run in scene.runs() if run.device == "quartz"] == [RunState.CANCELLED]
    assert scene.newest().state is RunState.RECEIVED


def test_retest_goes_by_what_is_known_now(shared: Scene) -> None:
    """A test that was run again since, and is fine, is not failed any more; what was not run again still is."""
    shared.pull()
    old = shared.finished_run()
    shared.comment(f"/relay test {BROKEN}")
    assert shared.newest().only == [BROKEN]
    shared.finish_newest()
    shared.comment("/relay retest")
    assert (shared.newest().rerun_of, shared.newest().only) == (old, [OTHER])
    shared.finish_newest()
    shared.comment("/relay retest")
    assert "has no failed test" in shared.answer()
    assert len(shared.runs()) == 3


def test_test_runs_the_whole_plan_again_even_after_single_tests(scene: Scene) -> None:
    scene.pull()
    old = scene.finished_run()
    scene.comment("/relay retest")
    scene.finish_newest()
    scene.comment("/relay test")
    assert (scene.newest().rerun_of, scene.newest().only, scene.newest().full) == (old, [], "")


@pytest.mark.parametrize("command", ["/relay test all", "/relay TEST all"])
def test_all_is_every_test_there_is(scene: Scene, command: str) -> None:
    scene.pull()
    scene.finished_run()
    scene.comment(command)
    assert scene.newest().full == "a comment on the pull request asked for every test"
    assert "runs every test there is for the change of" in scene.answer()


def test_the_device_is_a_name_for_the_whole(scene: Scene) -> None:
    scene.pull()
    scene.finished_run()
    scene.comment("/relay test spyre")
    assert (scene.newest().only, scene.newest().trigger) == ([], Trigger.RERUN)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (BROKEN, {BROKEN}),
        (f"`{BROKEN}`", {BROKEN}),
        ("test/test_ops.py::TestOps::test_broken", {BROKEN, OTHER}),
        ("test_broken", {BROKEN, OTHER}),
        ("test_fine_spyre", {FINE}),
        ("test/test_ops.py", {FINE, BROKEN, OTHER}),
        (f"{FINE} test_broken__a_spyre", {FINE, BROKEN}),
    ],
)
def test_tests_are_found_by_the_names_people_use(shared: Scene, name: str, meant: set[str]) -> None:
    shared.pull()
    shared.finished_run()
    shared.comment(f"/relay test {name}")
    assert set(shared.newest().only) == meant


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("test_brokn", "Did you mean `test/test_ops.py::TestOps::test_broken`?"),
        ("test/test_ops.py::TestOps::test_brokn", "Did you mean `test/test_ops.py::TestOps::test_broken`?"),
        ("TEST_BROKEN", "did not plan `TEST_BROKEN`"),
        ("zzz", "did not plan `zzz`."),
        ("%", "did not plan `%`"),
        ("a\x00b", "did not plan"),
    ],
)
def test_a_test_that_was_not_planned_is_answered_with_the_nearest(shared: Scene, name: str, answer: str) -> None:
    shared.pull()
    shared.finished_run()
    shared.comment(f"/relay test {name}")
    assert answer in shared.answer()
    assert len(shared.runs()) == 1


def test_a_head_nobody_tested_yet_gets_its_first_run(shared: Scene) -> None:
    """The webhook got lost, or came before this relay. What still runs for an earlier head is overtaken."""
    old = shared.story.open(pr=PR, head=HEAD)
    shared.pull(head=NEXT)
    shared.comment("/relay test")
    made = shared.newest()
    assert (made.head_sha, made.fetch_ref, made.trigger) == (NEXT, "refs/pull/7/head", Trigger.MANUAL)
    assert shared.runs()[0].state is RunState.CANCELLED
    assert shared.actions() == [("maintainer", "comment", "run.open", made.id)]
    assert f"tests `{NEXT[:12]}`" in shared.answer()
    assert shared.runs()[0].id == old
    shared.comment("/relay test")
    assert "is not finished" in shared.answer()


@pytest.mark.parametrize("command", ["/relay test", "/relay test test_broken", "/relay test all"])
def test_without_a_word_of_githubs_the_newest_head_on_record_counts(scene: Scene, command: str) -> None:
    """An App of a backend's is not in upstream's repository."""
    scene.github.refusals[("pull", REPO)] = GitHubError("The GitHub App is not installed on it", status=404)
    scene.comment(f"{command} {REPO}#{PR}", repo=BACKEND)
    assert f"No run of `{REPO}#7` is on record, and GitHub does not tell this App of it." in scene.answer()
    scene.finished_run(head=HEAD)
    newest = scene.finished_run(head=NEXT)
    scene.comment(f"{command} {REPO}#{PR}", repo=BACKEND)
    assert (scene.newest().rerun_of, scene.newest().head_sha) == (newest, NEXT)


def test_a_closed_pull_request_gets_no_first_run(scene: Scene) -> None:
    scene.pull(state="closed")
    scene.comment("/relay test")
    assert "is closed" in scene.answer()
    assert scene.runs() == []


def test_tests_of_a_head_nobody_tested_cannot_be_named(scene: Scene) -> None:
    scene.pull()
    scene.comment("/relay test test_broken")
    assert "`/relay test` starts one" in scene.answer()


@pytest.mark.parametrize("command", ["/relay test", "/relay test test_broken", "/relay retest"])
def test_what_still_runs_is_not_doubled(scene: Scene, command: str) -> None:
    scene.pull()
    scene.story.open(pr=PR)
    scene.comment(command)
    assert "is not finished" in scene.answer()
    assert "`/relay cancel`" in scene.answer()
    assert len(scene.runs()) == 1


def test_cancel_stops_all_that_runs_for_the_pull_request_and_nothing_else(shared: Scene) -> None:
    first, other = shared.story.open(pr=PR), shared.story.open(pr=PR + 1)
    second = shared.story.open(pr=PR, head=NEXT)
    shared.comment("/relay cancel")
    states = {run.id: run.state for run in shared.runs()}
    assert states == {first: RunState.CANCELLED, second: RunState.CANCELLED, other: RunState.RECEIVED}
    assert shared.newest().headline == "Cancelled by maintainer in a comment."
    assert shared.actions() == [("maintainer", "comment", "run.cancel", second)]
    assert "is cancelled." in shared.answer()
    shared.comment("/relay cancel")
    assert "Nothing runs for this pull request." in shared.answer()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        (
            BROKEN,
            ["test_broken` must run in [run 1]", "It has 2 variants: 2 regression.", "stage 2 ownership  imports"],
        ),
        ("test/test_ops.py::TestOps::test_broken", ["test_broken` must run in [run 1]"]),
        ("test_left_out", [f"`{LEFT_OUT}` is left out in [run 1]", "stage 3 triage     below the cut: score 0.12"]),
        ("TestOps", ["The name can mean 3 tests", "left out  test/test_ops.py::TestOps::test_left_out"]),
        (
            "test_lefd_out",
            ["`test_lefd_out`. Did you mean `test/test_ops.py::TestOps::test_left_out`"],
        ),
        ("zzz", ["did not consider `zzz`. So nothing that was looked at ties it to the change"]),
    ],
)
def test_why_tells_the_decision_with_every_reason(shared: Scene, name: str, parts: list[str]) -> None:
    shared.finished_run()
    shared.comment(f"/relay why {name}")
    for part in parts:
        assert part in shared.answer()
    assert shared.actions() == []


def test_why_has_to_wait_for_the_selection(scene: Scene) -> None:
    scene.comment("/relay why test_broken")
    assert "No run of `pytorch/pytorch-like#7` is on record" in scene.answer()
    scene.story.open(pr=PR)
    scene.comment("/relay why test_broken")
    assert "has not chosen its tests yet" in scene.answer()
    scene.comment("/relay cancel\n/relay why test_broken")
    assert "ended before it chose its tests" in scene.answer()


def test_help_lists_every_command(scene: Scene) -> None:
    scene.comment("/relay help", by="stranger")
    for usage in (
        "`/relay test`",
        "`/relay test all`",
        "`/relay test TEST ...`",
        "`/relay retest`",
        "`/relay cancel`",
        "`/relay why TEST`",
    ):
        assert usage in scene.answer()
    assert scene.github.calls[0][0] == "comments"


def test_a_wrong_command_is_answered_with_the_nearest_right_one(scene: Scene) -> None:
    scene.comment("/relay retset\n\n/relay why\n\n/relay approve")
    assert "`/relay retset`\n✗ There is no such command. Did you mean `/relay retest`?" in scene.answer()
    assert "`/relay why`\n✗ It goes like this: `/relay why TEST`." in scene.answer()
    assert "`/relay approve`\n✗ There is no such command. `/relay help` lists those there are." in scene.answer()


def test_several_commands_are_done_in_their_order(shared: Scene) -> None:
    shared.pull()
    shared.story.open(pr=PR)
    shared.comment("/relay cancel\nand then\n/relay test\n/relay retest")
    assert [run.state for run in shared.runs()] == [RunState.CANCELLED, RunState.RECEIVED]
    assert [line[0] for line in shared.answer().splitlines() if line.startswith(("✓", "✗"))] == ["✓", "✓", "✗"]


def test_more_commands_than_are_read_are_said_to_be(scene: Scene) -> None:
    scene.comment("/relay help\n" * 40)
    assert scene.answer().count("`/relay help`\nⓘ") == 10
    assert "Only the first 10 commands of a comment are read." in scene.answer()


@pytest.mark.parametrize("permission", ["admin", "write"])
def test_who_may_write_may_everything(scene: Scene, permission: str) -> None:
    scene.github.permissions["somebody"] = permission
    scene.finished_run()
    scene.comment("/relay retest", by="somebody")
    assert len(scene.runs()) == 2


@pytest.mark.parametrize("who", ["contributor", "stranger", "unknown"])
@pytest.mark.parametrize("command", ["/relay test", "/relay test all", "/relay retest", "/relay cancel"])
def test_nobody_else_changes_anything(scene: Scene, who: str, command: str) -> None:
    """Not even whoever opened the pull request; GitHub is not asked for more than the permission."""
    scene.pull()
    scene.finished_run()
    scene.comment(command, by=who)
    assert f"`{who}` may not: this takes write permission in `{REPO}`." in scene.answer()
    assert (len(scene.runs()), scene.actions()) == (1, [])
    assert "pull" not in [method for method, _ in scene.github.calls]


def test_whoever_opened_the_pull_request_may_ask_why(scene: Scene) -> None:
    scene.finished_run()
    scene.comment("/relay why test_left_out", by="Contributor")
    assert "is left out" in scene.answer()
    scene.comment("/relay why test_left_out", by="stranger")
    assert "may not: this takes write permission" in scene.answer()
    scene.comment(f"/relay why test_left_out {REPO}#8", by="contributor")
    assert "may not" in scene.answer()


def test_a_backends_pull_request_names_the_one_that_is_meant(shared: Scene) -> None:
    """Its own number says nothing upstream."""
    backend: dict[str, Any] = {"repo": BACKEND, "pr": 3}
    shared.pull()
    old = shared.finished_run()
    shared.comment("/relay retest", **backend)
    assert f"for example `/relay retest {REPO}#7`" in shared.answer()
    shared.comment(f"/relay retest {REPO.upper()}#{PR}", **backend)
    assert shared.newest().rerun_of == old
    assert shared.github.calls.count(("permission", BACKEND)) == 2
    shared.comment(f"/relay why test_left_out {REPO}#{PR}", **backend)
    assert "is left out" in shared.answer()
    shared.comment("/relay cancel someone/else#7", **backend)
    assert f"`someone/else#7` is no pull request of `{REPO}`." in shared.answer()
    shared.comment(f"/relay cancel {REPO}#{PR}", **backend)
    assert shared.newest().state is RunState.CANCELLED
