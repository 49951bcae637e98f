"""What the outbox does for comments: find out whether an author may, carry commands out, keep our comment current.

Owns the requests and their books. When, how often and by which thread a letter is sent is the outbox's business.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import structlog
from sqlalchemy import event as session_events
from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.comments import comment_words as words
from relay.comments.acting import RefusedError, Told, answer, pull_number
from relay.comments.asked import Asked, Comment
from relay.comments.commands import MOST, Command, Verb, commands_in
from relay.comments.page import lane_of, put_up
from relay.comments.rights import may, needs_permission
from relay.context import RelayContext
from relay.crcr.endings import ending_of
from relay.github.types import GitHubError, SeenComment
from relay.intake.events import PullRequestChanged, parse_event
from relay.outbox.types import Ending, Letter, Sender, Sent, Undeliverable
from relay.parts import GitHub
from relay.settings import RelaySettings
from relay.store.comment_models import CommentAnswer, PullComment
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState
from relay.store.engine import Store
from relay.store.models import Run
from relay.store.upsert import insert_into
from relay.wake import Waker

_log = structlog.get_logger(__name__)

#: What is read later than this after it was written is not done any more: much may have happened since.
LATE = timedelta(hours=1)


def senders(context: RelayContext) -> Mapping[OutboxKind, Sender]:
    """The senders of this room; none without an App of ours."""
    github = context.crcr.github if context.crcr is not None else None
    if github is None:
        return {}
    return {
        OutboxKind.COMMAND: CommandSender(github, context.settings, context.waker, context.devices),
        OutboxKind.COMMENT: CommentSender(github, context.store, context.settings),
    }


class CommandSender:
    """Asks GitHub what it takes to judge a comment, and has its commands carried out when that is known: in the
    transaction that settles the letter, so that each is done once, whatever dies."""

    def __init__(self, github: GitHub, settings: RelaySettings, waker: Waker, devices: tuple[str, ...]) -> None:
        self._github = github
        self._settings = settings
        self._devices = devices
        self._waker = waker

    def send(self, letter: Letter) -> Ending:
        """Ask whether the author may, and of the pull requests that are to be tested."""
        comment = Comment(**letter.body)
        commands = commands_in(comment.text)
        try:
            permission = self._permission(comment, commands)
            pulls = {number: self._pull(number) for number in self._to_test(comment, commands, permission)}
        except GitHubError as error:
            return ending_of(error)
        return Sent({"permission": permission, "pulls": pulls})

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Carry the commands out, and have them answered."""
        comment = Comment(**item.body)
        commands = commands_in(comment.text)
        if isinstance(ending, Undeliverable):
            _log.error("comment_not_judged", repo=comment.repo, pull=comment.number, reason=ending.reason)
        if not isinstance(ending, Sent) or not commands or _is_answered(session, comment):
            return
        asked = self._asked(comment, ending.answer, now)
        answers = [_answered(session, asked, it, place) for place, it in enumerate(commands[:MOST])]
        if len(commands) > MOST:
            answers.append(Told(words.too_many()))
        put_up(session, self._settings, _keep(session, comment, answers, now), now, "answered")
        made = [it.run_id for it in answers if it.run_id is not None]
        for device in session.scalars(select(Run.device).where(Run.id.in_(made)).distinct().order_by(Run.device)):
            _wake_after_commit(session, self._waker, device)

    def _permission(self, comment: Comment, commands: Sequence[Command]) -> str:
        if not any(map(needs_permission, commands)):
            return ""
        return self._github.permission(comment.repo, comment.login)

    def _to_test(self, comment: Comment, commands: Sequence[Command], permission: str) -> frozenset[int]:
        """The pull requests whose heads matter."""
        wanted = set()
        for it in commands[:MOST]:
            if it.verb is Verb.TEST and may(it, permission, is_author=comment.by_author):
                try:
                    wanted.add(pull_number(comment.repo, comment.number, it, self._settings.upstream_repo))
                except RefusedError:
                    continue
        return frozenset(wanted)

    def _pull(self, number: int) -> Mapping[str, Any]:
        """The pull request; an empty one when there is none, which is for the answer to say."""
        try:
            return self._github.pull(self._settings.upstream_repo, number)
        except GitHubError as error:
            if error.passing:
                raise
            return {}

    def _asked(self, comment: Comment, found: Mapping[str, Any], now: datetime) -> Asked:
        pulls: Mapping[int, Mapping[str, Any]] = found["pulls"]
        return Asked(
            settings=self._settings,
            comment=comment,
            permission=found["permission"],
            pulls={number: _head_of(self._settings.upstream_repo, number, pull) for number, pull in pulls.items()},
            open_pulls=frozenset(number for number, pull in pulls.items() if pull.get("state") == "open"),
            now=now,
            devices=self._devices,
        )


class CommentSender:
    """Writes our comment on a pull request, once, and edits it from then on."""

    def __init__(self, github: GitHub, store: Store, settings: RelaySettings) -> None:
        self._github = github
        self._store = store
        self._app_id = settings.github_app_id

    def send(self, letter: Letter) -> Ending:
        """Edit the comment that is known, else the one that is found there, else write one. What a later letter says as
        well is left to that one."""
        number, text = letter.body["number"], letter.body["text"]
        if self._is_overtaken(letter):
            return Sent()
        try:
            known = self._known(letter.target, number)
            if known is not None and self._edited(letter.target, known, text):
                return Sent({"comment_id": known})
            # An earlier attempt may have written one and lost the answer; or another database of ours did.
            found = next((it.id for it in self._github.comments(letter.target, number) if self._is_ours(it)), None)
            if found is not None and found != known and self._edited(letter.target, found, text):
                return Sent({"comment_id": found})
            return Sent({"comment_id": self._github.create_comment(letter.target, number, text)})
        except GitHubError as error:
            return ending_of(error)

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """Remember which comment is ours."""
        if isinstance(ending, Undeliverable):
            _log.error("comment_refused", repo=item.target, pull=item.body["number"], reason=ending.reason)
        if not isinstance(ending, Sent) or not ending.answer:
            return
        ours = {"comment_id": ending.answer["comment_id"], "at": now}
        row = insert_into(session, PullComment).values(
            repo_key=item.target.casefold(), pr_number=item.body["number"], **ours
        )
        session.execute(row.on_conflict_do_update(index_elements=["repo_key", "pr_number"], set_=ours))

    def _is_overtaken(self, letter: Letter) -> bool:
        """Whether a later letter says all that this one does, and more: many commands then cost few requests."""
        lane = lane_of(letter.target, letter.body["number"])
        later = (OutboxItem.lane == lane, OutboxItem.id > letter.id, OutboxItem.state == OutboxState.DUE)
        with self._store.reading() as session:
            return session.scalar(select(OutboxItem.id).where(*later).limit(1)) is not None

    def _known(self, repo: str, number: int) -> int | None:
        with self._store.reading() as session:
            known = session.get(PullComment, (repo.casefold(), number))
            return None if known is None else known.comment_id

    def _edited(self, repo: str, comment_id: int, text: str) -> bool:
        """False when it is not there any more."""
        try:
            self._github.update_comment(repo, comment_id, text)
        except GitHubError as error:
            if error.status not in (404, 410):
                raise
            return False
        return True

    def _is_ours(self, seen: SeenComment) -> bool:
        """Anybody can write the mark, and our App may edit what others wrote; so the author is looked at, too."""
        by_us = seen.bot if seen.app_id is None else seen.app_id == self._app_id
        return by_us and seen.text.startswith(words.MARKER)


def _answered(session: Session, asked: Asked, command: Command, place: int) -> Told:
    late = asked.now - _moment(asked.comment.at, asked.now)
    if late > LATE and needs_permission(command):
        return Told(words.not_done(command, words.too_late(round(late.total_seconds() / 3_600))))
    return answer(session, asked, command, place)


def _moment(text: str, otherwise: datetime) -> datetime:
    """When a comment was written, as GitHub says it."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return otherwise
    return found if found.tzinfo is not None else otherwise


def _head_of(repo: str, number: int, pull: Mapping[str, Any]) -> PullRequestChanged | None:
    """What its webhook would have told; None when GitHub's words are not as documented."""
    payload = {"action": "synchronize", "number": number, "repository": {"full_name": repo}, "pull_request": pull}
    event = parse_event("pull_request", payload)
    return event if isinstance(event, PullRequestChanged) else None


def _is_answered(session: Session, comment: Comment) -> bool:
    """Letters are forgotten in time, and answers are not."""
    of_comment = (CommentAnswer.repo_key == comment.repo.casefold(), CommentAnswer.comment_id == comment.comment_id)
    return session.scalar(select(CommentAnswer.id).where(*of_comment)) is not None


def _keep(session: Session, comment: Comment, answers: Sequence[Told], now: datetime) -> CommentAnswer:
    row = CommentAnswer(
        repo=comment.repo,
        repo_key=comment.repo.casefold(),
        pr_number=comment.number,
        comment_id=comment.comment_id,
        login=comment.login,
        answer="\n\n".join(told.text for told in answers),
        at=now,
        awaited_run_id=next((told.run_id for told in reversed(answers) if told.run_id is not None), None),
        ending="",
    )
    session.add(row)
    session.flush()
    return row


def _wake_after_commit(session: Session, waker: Waker, device: str) -> None:
    """A savepoint is no commit: who is woken by it would find nothing yet."""

    def wake(committed: Session) -> None:
        if not committed.in_nested_transaction():
            waker.wake(device)

    session_events.listen(session, "after_commit", wake)
