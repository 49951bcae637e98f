"""A relay whose record has runs, a GitHub that tests set, and people who comment on its pull requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import select

from relay.comments import endings
from relay.comments.senders import senders
from relay.context import RelayContext
from relay.intake.deliveries import handle_delivery, record_delivery
from relay.outbox.delivering import Deliverer
from relay.parts import CrcrParts
from relay.store.access_models import OperatorAction
from relay.store.comment_models import CommentAnswer
from relay.store.crcr_models import OutboxItem
from relay.store.engine import Store
from relay.store.models import Delivery, PlannedTest, Run
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn
from tests.conformance.world import Clock
from tests.relay.crcr.stage import NoVerifier
from tests.relay.stories import REPO, Story, dropped, planned, regressed, report_of

BACKEND = "acme/torch-acme"
PR = 7
HEAD = "1" * 40
FILE = "test/test_ops.py"
FINE = f"{FILE}::TestOpsSPYRE::test_fine_spyre"
BROKEN = f"{FILE}::TestOpsSPYRE::test_broken__a_spyre"
OTHER = f"{FILE}::TestOpsSPYRE::test_broken__b_spyre"
LEFT_OUT = f"{FILE}::TestOps::test_left_out"


@dataclass
class WakerStandIn:
    """Remembers what was on record when it woke whom."""

    store: Store
    woken: list[tuple[str, int]] = field(default_factory=list)

    def wake(self, device: str) -> bool:
        with self.store.reading() as session:
            self.woken.append((device, len(session.scalars(select(Run.id)).all())))
        return True

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Scene:
    """`maintainer` may write, `contributor` opened the pull request, `stranger` is neither."""

    context: RelayContext
    github: GitHubStandIn
    waker: WakerStandIn
    story: Story
    clock: Clock
    outbox: Deliverer = field(init=False)
    comments: int = 100

    def __post_init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Another process on the same record."""
        self.outbox = Deliverer(self.context.store, senders(self.context), self.clock, workers=4)

    def comment(self, text: str, *, by: str = "maintainer", **more: Any) -> int:
        """Somebody writes a comment, GitHub tells of it, and the relay does what it has to; the comment's number."""
        number = self.told(text, by=by, **more)
        self.outbox.deliver_due()
        return number

    def told(self, text: str, *, by: str = "maintainer", repo: str = REPO, pr: int = PR, **more: Any) -> int:
        """GitHub tells of a comment; `more` are fields of the payload's comment."""
        self.comments += 1
        payload = comment_payload(text, by, repo=repo, pr=pr, number=self.comments, at=self.clock.at, **more)
        self.deliver(payload)
        return self.comments

    def deliver(self, payload: dict[str, Any]) -> Delivery:
        """Take a webhook in, as if it had been judged."""
        name, body = f"delivery-{self.comments}-{len(self.deliveries())}", json.dumps(payload).encode()
        with self.context.store.writing() as session:
            row, _ = record_delivery(session, name, "issue_comment", body, self.clock.at)
        handle_delivery(self.context, row.id)
        with self.context.store.reading() as session:
            return session.get_one(Delivery, row.id)

    def deliveries(self) -> Sequence[Delivery]:
        with self.context.store.reading() as session:
            return session.scalars(select(Delivery).order_by(Delivery.id)).all()

    def drain(self, after_s: float = 0) -> int:
        self.clock.tick(after_s)
        return self.outbox.deliver_due()

    def ours(self) -> str:
        """The text of our only comment."""
        (one,) = [it.seen for it in self.github.comments_by_id.values() if it.seen.app_id == self.github.app_id]
        return one.text

    def ours_on(self, pr: int) -> str:
        """The text of our comment there."""
        return next(it.seen.text for it in self.github.comments_by_id.values() if it.number == pr)

    def answers(self) -> list[str]:
        """What was answered, oldest first."""
        with self.context.store.reading() as session:
            return list(session.scalars(select(CommentAnswer.answer).order_by(CommentAnswer.id)))

    def answer(self) -> str:
        """The newest."""
        return self.answers()[-1]

    def runs(self) -> Sequence[Run]:
        with self.context.store.reading() as session:
            return session.scalars(select(Run).order_by(Run.id)).all()

    def newest(self) -> Run:
        return self.runs()[-1]

    def actions(self) -> list[tuple[str, str, str, int | None]]:
        """The audit log, oldest first: who, how, what, which run."""
        with self.context.store.reading() as session:
            rows = session.scalars(select(OperatorAction).order_by(OperatorAction.id))
            return [(row.actor, row.via.value, row.action, row.run_id) for row in rows]

    def letters(self) -> Sequence[OutboxItem]:
        with self.context.store.reading() as session:
            return session.scalars(select(OutboxItem).order_by(OutboxItem.id)).all()

    def tests_of(self, run_id: int) -> set[str]:
        with self.context.store.reading() as session:
            return set(session.scalars(select(PlannedTest.test_id).where(PlannedTest.run_id == run_id)))

    def finished_run(self, *, head: str = HEAD) -> int:
        """A run in which one test is fine and the variants of another break."""
        run_id = self.story.open(pr=PR, head=head)
        self.story.select(report_of([[planned(FINE), planned(BROKEN), planned(OTHER)]], left_out=[dropped(LEFT_OUT)]))
        self.story.run_all({BROKEN: regressed(BROKEN, "assert 1 == 2"), OTHER: regressed(OTHER, "boom")})
        return run_id

    def finish_newest(self, *broken: str) -> None:
        """The newest run, which was asked for by name, does what it was asked to."""
        only = self.newest().only or [FINE, BROKEN, OTHER]
        self.story.select(report_of([[planned(test) for test in only]]))
        self.story.run_all({test: regressed(test, "again") for test in broken})

    def end(self) -> int:
        """A turn of the sweep, and what it has sent."""
        told = endings.tell(self.context)
        self.outbox.deliver_due()
        return told

    def pull(self, *, head: str = HEAD, state: str = "open", number: int = PR) -> None:
        """GitHub knows this pull request."""
        base = {"ref": "main", "sha": "2" * 40, "repo": {"full_name": REPO}}
        self.github.whole_pulls[number] = {
            "number": number,
            "state": state,
            "title": "A change",
            "body": None,
            "base": base,
            "head": {"sha": head},
            "user": {"login": "contributor"},
            "labels": [],
        }


def comment_payload(
    text: str,
    by: str,
    *,
    number: int,
    at: datetime,
    repo: str = REPO,
    pr: int = PR,
    kind: str = "User",
    **comment: Any,
) -> dict[str, Any]:
    """An `issue_comment` webhook."""
    return {
        "action": "created",
        "issue": {"number": pr, "user": {"login": "contributor"}, "pull_request": {"url": "x"}, "state": "open"},
        "comment": {
            "id": number,
            "body": text,
            "user": {"login": by, "type": kind},
            "created_at": at.isoformat(),
            "performed_via_github_app": None,
            **comment,
        },
        "repository": {"full_name": repo},
        "sender": {"login": by, "type": kind},
    }


@contextmanager
def staged(context: RelayContext, store: Store, **settings: object) -> Iterator[Scene]:
    """A scene on a record."""
    github = GitHubStandIn(permissions={"maintainer": "write", "contributor": "read", "stranger": "read"})
    clock, waker = Clock(), WakerStandIn(store)
    told = {
        "upstream_repo": REPO,
        "comment_commands": f"upstream,{BACKEND}",
        "github_app_id": github.app_id,
        "public_url": "https://relay.example",
    }
    whole = replace(
        context,
        settings=context.settings.model_copy(update=told | settings),
        store=store,
        waker=waker,
        crcr=CrcrParts(AllowlistStandIn(clock), NoVerifier(), github),
        now=clock,
    )
    yield Scene(whole, github, waker, Story(store), clock)
