"""One comment of ours per pull request, whatever fails: written once, then edited, found again, within bounds."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from markdown_it import MarkdownIt
from sqlalchemy import delete

from relay.comments.comment_words import MARKER
from relay.comments.page import BYTES_CAP, EARLIER
from relay.github.types import GitHubError, SeenComment
from relay.intake.comment_wishes import commanded_repositories
from relay.store.comment_models import PullComment
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState
from relay.store.models import DeliveryState
from tests.conformance.github_stand_in import ShownComment
from tests.relay.comments.scene import BACKEND, PR, Scene, comment_payload
from tests.relay.stories import REPO, kept, planned, reason, regressed, report_of

AWAY = GitHubError("away", status=502)


def put(scene: Scene, text: str, *, app_id: int | None, bot: bool) -> int:
    """A comment that is there already."""
    number = 50 + len(scene.github.comments_by_id)
    scene.github.comments_by_id[number] = ShownComment(REPO, PR, SeenComment(number, app_id, bot, text))
    return number


def test_there_is_one_comment_and_it_is_edited(shared: Scene) -> None:
    for text in ("/relay help", "/relay approve", "/relay cancel"):
        shared.comment(text)
    (only,) = shared.github.comments_by_id.values()
    assert only.writes == 3
    assert only.seen.text.startswith(MARKER)
    newest, _, folded = only.seen.text.partition("<details>")
    assert "`/relay cancel`" in newest
    assert "`/relay approve`" in folded
    assert "2 earlier answers" in folded
    assert [method for method, _ in shared.github.calls].count("comments") == 1


def test_every_pull_request_has_its_own(scene: Scene) -> None:
    scene.comment("/relay help")
    scene.comment("/relay help", pr=8)
    scene.comment("/relay help", repo=BACKEND)
    written = {(one.repo, one.number, one.writes) for one in scene.github.comments_by_id.values()}
    assert written == {(REPO, 7, 1), (REPO, 8, 1), (BACKEND, 7, 1)}


def test_it_is_found_again_by_a_new_process(scene: Scene) -> None:
    scene.comment("/relay help")
    scene.renew()
    scene.comment("/relay help")
    assert [one.writes for one in scene.github.comments_by_id.values()] == [2]


def test_it_is_found_again_by_a_new_record(shared: Scene) -> None:
    """Or by this one, when the answer to the first writing was lost."""
    shared.comment("/relay help")
    with shared.context.store.writing() as session:
        session.delete(session.get_one(PullComment, (REPO, PR)))
    shared.comment("/relay help")
    assert [one.writes for one in shared.github.comments_by_id.values()] == [2]


def test_a_comment_whose_answer_was_lost_is_not_written_twice(scene: Scene) -> None:
    real = scene.github.create_comment

    def lose(repo: str, number: int, text: str) -> int:
        real(repo, number, text)
        scene.github.create_comment = real  # type: ignore[method-assign]  # as it was
        raise GitHubError("no answer")

    scene.github.create_comment = lose  # type: ignore[method-assign]  # its answers get lost
    scene.comment("/relay help")
    scene.drain(60)
    assert [one.writes for one in scene.github.comments_by_id.values()] == [2]


def test_a_comment_that_was_taken_away_is_written_anew(scene: Scene) -> None:
    scene.comment("/relay help")
    scene.github.comments_by_id.clear()
    scene.comment("/relay help")
    assert len(scene.github.comments_by_id) == 1
    assert "1 earlier answer<" in scene.ours()


@pytest.mark.parametrize(("app_id", "bot"), [(None, False), (99, True), (99, False)])
def test_a_comment_that_bears_our_mark_is_ours_only_if_we_wrote_it(scene: Scene, app_id: int | None, bot: bool) -> None:
    """Our App may edit what others wrote: whoever forges the mark must not have us do that."""
    forged = put(scene, f"{MARKER}\nmine", app_id=app_id, bot=bot)
    scene.comment("/relay help")
    assert scene.github.comments_by_id[forged].seen.text == f"{MARKER}\nmine"
    assert len(scene.github.comments_by_id) == 2


@pytest.mark.parametrize("app_id", [7, None])
def test_a_comment_of_ours_without_the_mark_is_left_alone(scene: Scene, app_id: int | None) -> None:
    other = put(scene, f"see {MARKER}", app_id=app_id, bot=True)
    scene.comment("/relay help")
    assert scene.github.comments_by_id[other].writes == 1
    assert len(scene.github.comments_by_id) == 2


@pytest.mark.parametrize("method", ["permission", "comments", "create_comment"])
@pytest.mark.parametrize("fault", [AWAY, GitHubError("slow down", status=429, retry_after_s=20), GitHubError("none")])
def test_what_may_pass_is_tried_again_and_done_once(scene: Scene, method: str, fault: GitHubError) -> None:
    scene.finished_run()
    scene.github.fail(method, fault, fault)
    scene.comment("/relay retest")
    for _ in range(3):
        scene.drain(60)
    assert len(scene.runs()) == 2
    assert "runs the 2 failed tests" in scene.ours()
    assert [one.writes for one in scene.github.comments_by_id.values()] == [1]


def test_answers_keep_their_order_though_github_is_away(scene: Scene) -> None:
    scene.comment("/relay help")
    scene.github.fail("update_comment", *[AWAY] * 3)
    scene.comment("/relay approve")
    scene.comment("/relay cancel")
    for _ in range(4):
        scene.drain(60)
    assert "`/relay cancel`" in scene.ours().partition("<details>")[0]
    assert {letter.state for letter in scene.letters()} == {OutboxState.SENT}


def test_what_waited_together_is_one_edit(shared: Scene) -> None:
    """The last letter says what all of them do; another pull request is not held up."""
    shared.comment("/relay help")
    shared.github.fail("update_comment", AWAY)
    shared.comment("/relay approve")
    for _ in range(10):
        shared.comment("/relay cancle")
    shared.comment("/relay help", pr=8)
    assert sorted(one.writes for one in shared.github.comments_by_id.values()) == [1, 1]
    shared.drain(60)
    assert sorted(one.writes for one in shared.github.comments_by_id.values()) == [1, 2]
    assert "11 earlier answers" in shared.ours_on(PR)
    assert {letter.state for letter in shared.letters()} == {OutboxState.SENT}


@pytest.mark.parametrize("method", ["permission", "create_comment"])
def test_a_refusal_is_a_dead_letter_that_says_why(scene: Scene, method: str) -> None:
    scene.finished_run()
    scene.github.refusals[(method, REPO)] = GitHubError("Resource not accessible by integration", status=403)
    scene.comment("/relay retest")
    dead = [letter for letter in scene.letters() if letter.state is OutboxState.DEAD]
    assert [(letter.kind, letter.last_status) for letter in dead] == [
        (OutboxKind.COMMAND if method == "permission" else OutboxKind.COMMENT, 403)
    ]
    assert len(scene.runs()) == (1 if method == "permission" else 2)


def test_a_comment_that_is_told_twice_is_answered_once(shared: Scene) -> None:
    """By another delivery of the same comment."""
    shared.finished_run()
    payload = comment_payload("/relay retest", "maintainer", number=500, at=shared.clock.at)
    for _ in range(2):
        shared.deliver(payload)
    shared.drain()
    assert (len(shared.runs()), len(shared.answers())) == (2, 1)


def test_a_comment_is_answered_once_though_its_letter_was_forgotten(shared: Scene) -> None:
    shared.finished_run()
    payload = comment_payload("/relay retest", "maintainer", number=500, at=shared.clock.at)
    for _ in range(2):
        shared.deliver(payload)
        shared.drain()
        with shared.context.store.writing() as session:
            session.execute(delete(OutboxItem))
    assert (len(shared.runs()), len(shared.answers())) == (2, 1)


@pytest.mark.parametrize(
    ("change", "note"),
    [
        ({"action": "edited"}, "does not act on comments that are edited"),
        ({"action": "deleted"}, "does not act on comments that are deleted"),
        ({"sender": {"login": "x[bot]", "type": "Bot"}}, "bots are not answered"),
        ({"sender": {"login": "x", "type": "Organization"}}, "bots are not answered"),
        ({"issue": {"number": 7, "user": {"login": "x"}}}, "on an issue"),
        ({"repository": {"full_name": "some/other"}}, "comments in some/other are not read"),
        ({"comment": {"id": 1, "body": "x", "user": {"login": "a", "type": "User"}}}, "no command"),
        ({"comment": {"id": 1, "body": None, "user": {"login": "a", "type": "User"}}}, "no command"),
        ({"comment": {"id": 1, "body": "/relay help", "user": {"login": "a", "type": "Bot"}}}, "bots are not"),
        ({"comment": {"id": "1", "body": "/relay help", "user": {"login": "a", "type": "User"}}}, "malformed"),
        ({"comment": {"id": 1, "body": "/relay help", "user": None}}, "malformed"),
        ({"comment": 7}, "malformed"),
        ({"issue": None}, "malformed"),
        ({"sender": None}, "malformed"),
        ({"action": None}, "malformed"),
    ],
)
def test_everything_else_is_ignored_with_a_reason(scene: Scene, change: dict[str, object], note: str) -> None:
    payload = comment_payload("/relay help", "maintainer", number=500, at=scene.clock.at) | change
    delivery = scene.deliver(payload)
    assert delivery.state is DeliveryState.IGNORED
    assert note in delivery.note
    assert scene.drain() == 0


def test_our_own_comments_are_no_commands_whoever_github_says_wrote_them(scene: Scene) -> None:
    scene.told("/relay help", performed_via_github_app={"id": scene.github.app_id})
    assert scene.deliveries()[-1].note == "the comment is our own"
    scene.told("/relay help", performed_via_github_app={"id": 99})
    assert scene.drain() == 2


def test_a_relay_and_a_bot_do_not_answer_each_other_for_ever(scene: Scene) -> None:
    """Our answer quotes commands, and comes back as a comment."""
    scene.comment("/relay help\n/relay approve")
    text = scene.ours()
    scene.told(text, by="relay[bot]", kind="Bot")
    scene.told(text, by="helpful-person")
    scene.drain()
    assert len(scene.answers()) == 1


def test_comments_are_read_where_an_operator_said_so(scene: Scene) -> None:
    settings = scene.context.settings
    told = {
        "off": frozenset(),
        "upstream": frozenset({REPO}),
        "Acme/X": frozenset({"acme/x"}),
        "upstream, Acme/X ,b/c": frozenset({REPO, "acme/x", "b/c"}),
    }
    for given, expected in told.items():
        changed = settings.model_copy(update={"comment_commands": given})
        assert commanded_repositories(changed) == expected


def test_what_was_stored_before_an_operator_said_off_is_not_read(scene: Scene) -> None:
    scene.context = replace(
        scene.context, settings=scene.context.settings.model_copy(update={"comment_commands": "off"})
    )
    scene.comment("/relay help")
    assert scene.deliveries()[-1].state is DeliveryState.IGNORED


def test_what_comes_too_late_is_said_and_not_done(scene: Scene) -> None:
    """Much may have happened since somebody wanted that. What changes nothing and tells nothing is still answered."""
    scene.finished_run()
    scene.told("/relay retest\n/relay help")
    scene.drain(3 * 3_600)
    assert "asked 3 h ago" in scene.answer()
    assert "these are the commands".capitalize() in scene.answer()
    assert len(scene.runs()) == 1


def test_a_comment_without_a_usable_time_is_taken_for_new(scene: Scene) -> None:
    scene.finished_run()
    scene.comment("/relay retest", created_at="yesterday")
    assert len(scene.runs()) == 2


def test_a_worker_is_woken_for_what_it_can_find(shared: Scene) -> None:
    """After the commit, once; nobody for what starts nothing."""
    shared.finished_run()
    shared.comment("/relay help\n/relay why test_broken\n/relay cancel")
    assert shared.waker.woken == []
    shared.comment("/relay retest")
    assert shared.waker.woken == [("spyre", 2)]


HOSTILE = "@everyone ![x](https://evil.example/p.png) </details> <!-- `` ``` https://evil.example a/b#1 \u202e"


def test_nothing_from_outside_does_anything_in_our_comment(shared: Scene) -> None:
    """All that is shown outside of code is our own: no mention, no link but ours, no image, no tag but the fold's."""
    run = shared.story.open(pr=PR)
    name = "test/test_@x.py::TestX::test_`@y`_[a](b)"
    chain = [reason(2, f"rule {HOSTILE}", f"evidence {HOSTILE}\n```\n@team\n```"), reason(3, "x", HOSTILE * 20)]
    shared.story.select(report_of([[planned(f"{name}_spyre", base=name)]], decisions=[kept(name, *chain)]))
    shared.story.run_all({f"{name}_spyre": regressed(f"{name}_spyre", f"{HOSTILE}\n```\n{HOSTILE}")})
    shared.github.permissions["ev`il"] = "write"
    shared.comment(f"/relay why `` {name} ``\n\n/relay test {HOSTILE}\n\n/relay {HOSTILE}", by="ev`il")
    shared.comment(f"/relay why {HOSTILE.replace(' ', '')}", by="maintainer")
    assert "must run" in shared.answers()[0]
    assert f"/runs/{run}" in shared.answers()[0]
    assert "said:" in shared.answers()[0]
    shown = outside_of_code(shared.ours())
    for sign in ("@", "![", "evil.example", "a/b#1", "\u202e", "<!-- `"):
        assert sign not in shown
    allowed = {MARKER, "<details>", "<summary>", "</summary>", "</details>"}
    assert set(re.findall(r"<[^<>]*>", shown)) <= allowed
    assert shown.count("<details>") == shown.count("</details>") == 1


def outside_of_code(text: str) -> str:
    """What a reader of GitHub's page gets that is no code."""
    found = []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in ("inline", "html_block"):
            children = token.children or [token]
            found += [
                child.content or str(child.attrs.get("href", "")) for child in children if child.type != "code_inline"
            ]
    return "\n".join(found)


def test_it_never_gets_longer_than_github_takes(scene: Scene) -> None:
    """In bytes, with characters of four, and whole answers only."""
    scene.story.open(pr=PR)
    name = "test/test_x.py::TestX::test_y"
    chain = [reason(stage, "\U0001f600" * 200, "\U0001f680" * 200) for stage in (2, 3, 4) for _ in range(6)]
    scene.story.select(report_of([[planned(f"{name}_spyre", base=name)]], decisions=[kept(name, *chain)]))
    for _ in range(EARLIER + 3):
        scene.comment(f"/relay why {name}\n" * 10)
        assert len(scene.ours().encode()) <= BYTES_CAP
        assert scene.ours().count("```") % 2 == 0
    assert "are left out." in scene.ours()
    assert scene.ours().endswith("</details>")
