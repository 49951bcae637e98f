"""Deliveries are stored once, and each is turned into what it asks for exactly once."""

from __future__ import annotations

import json
from collections.abc import Callable, Container
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import DataError
from sqlalchemy.orm import Session

from relay.context import RelayContext
from relay.errors import ConflictError
from relay.intake import deliveries
from relay.intake.deliveries import (
    delivery_identity,
    handle_delivery,
    process_delivery,
    record_delivery,
    sweep_deliveries,
)
from relay.intake.full_wishes import FullWishes
from relay.store.engine import Store
from relay.store.models import Delivery, DeliveryState, Run
from relay.views import RunState
from tests.relay.stories import DEVICE, START

PULL = json.loads((Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_text("utf-8"))
PUSH = {
    "ref": "refs/heads/main",
    "before": "a" * 40,
    "after": "b" * 40,
    "head_commit": {"message": "Fold two loops\n\nmore"},
    "repository": {"full_name": "pytorch/pytorch-like", "default_branch": "main"},
}


@dataclass
class CountingWaker:
    """Remembers whom it woke."""

    woken: list[str] = field(default_factory=list)

    def wake(self, device: str) -> bool:
        self.woken.append(device)
        return True

    def close(self) -> None:
        """Nothing is open."""


Deliver = Callable[..., Run | None]


@pytest.fixture
def inbox(context: RelayContext, store: Store) -> RelayContext:
    """A relay whose inbox is kept in the one database, then in the other."""
    return replace(context, store=store)


@pytest.fixture
def deliver(store: Store) -> Deliver:
    """Record and process one delivery; the run it made, if it made one."""

    def do(delivery_id: str, event: str, payload: dict[str, Any]) -> Run | None:
        with store.writing() as session:
            row, _ = record_delivery(session, delivery_id, event, json.dumps(payload).encode(), START)
            process_delivery(session, row.id, (DEVICE,), START, FullWishes(labels=frozenset({"full"})))
            return session.get(Run, row.run_id) if row.run_id else None

    return do


def stored(session: Session, delivery_id: str) -> Delivery:
    return session.scalars(select(Delivery).where(Delivery.delivery_id == delivery_id)).one()


def pull(action: str = "opened", head: str = "1" * 40) -> dict[str, Any]:
    changed: dict[str, Any] = json.loads(json.dumps(PULL))
    changed["action"] = action
    changed["pull_request"]["head"]["sha"] = head
    return changed


def test_a_repeat_is_the_same_row(store: Store) -> None:
    with store.writing() as session:
        first, repeated_first = record_delivery(session, "d1", "push", b"{}", START)
    with store.writing() as session:
        second, repeated = record_delivery(session, "d1", "push", b"{}", START)
        assert (first.id, repeated_first, second.id, repeated) == (second.id, False, first.id, True)
        assert session.scalar(select(func.count()).select_from(Delivery)) == 1


@pytest.mark.parametrize(("event", "body"), [("push", b"{ }"), ("pull_request", b"{}")])
def test_the_same_id_with_other_content_is_a_conflict(store: Store, event: str, body: bytes) -> None:
    with store.writing() as session:
        record_delivery(session, "d1", "push", b"{}", START)
    with store.writing() as session, pytest.raises(ConflictError):
        record_delivery(session, "d1", event, body, START)


def test_twins_at_the_same_moment_are_one_row(store: Store) -> None:
    def twin(_: int) -> tuple[int, bool]:
        with store.writing() as session:
            row, repeated = record_delivery(session, "twin", "push", b"{}", START)
            return row.id, repeated

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(twin, range(8)))
    assert len({row for row, _ in answers}) == 1
    assert [repeated for _, repeated in answers].count(False) == 1


def test_without_the_header_the_body_is_the_identity() -> None:
    assert delivery_identity("given", b"x") == "given"
    assert delivery_identity("", b"x") == delivery_identity("", b"x")
    assert delivery_identity("", b"x") != delivery_identity("", b"y")
    assert delivery_identity("", b"x").startswith("sha256:")


def test_an_opened_pull_request_becomes_a_run(store: Store, deliver: Deliver) -> None:
    run = deliver("d1", "pull_request", pull())
    assert run is not None
    assert (run.pr_number, run.base_sha, run.head_sha, run.base_ref) == (7, "2" * 40, "1" * 40, "main")
    assert (run.fetch_ref, run.device, run.state, run.kind) == (
        *("refs/pull/7/head", DEVICE),
        *(RunState.RECEIVED, "pull_request"),
    )
    with store.reading() as session:
        assert stored(session, "d1").state is DeliveryState.PROCESSED


def test_a_new_head_supersedes_the_unfinished_run(store: Store, deliver: Deliver) -> None:
    old = deliver("d1", "pull_request", pull())
    new = deliver("d2", "pull_request", pull("synchronize", "3" * 40))
    assert old is not None
    assert new is not None
    with store.reading() as session:
        states = {run.id: run.state for run in session.scalars(select(Run))}
    assert states == {old.id: RunState.CANCELLED, new.id: RunState.RECEIVED}


def labelled(action: str, *names: str, label: str = "", head: str = "1" * 40) -> dict[str, Any]:
    changed = pull(action, head)
    changed["pull_request"]["labels"] = [{"name": name} for name in names]
    return changed | {"label": {"name": label}} if label else changed


def test_a_pull_request_opened_with_the_label_runs_everything(deliver: Deliver) -> None:
    run = deliver("d1", "pull_request", labelled("opened", "module: nn", "Full"))
    assert run is not None
    assert run.full == 'the pull request has the label "Full"'


def test_the_label_given_later_opens_a_new_run_of_the_same_head(store: Store, deliver: Deliver) -> None:
    """And the selected one, still under way, is superseded."""
    old = deliver("d1", "pull_request", labelled("opened"))
    new = deliver("d2", "pull_request", labelled("labeled", "full", label="full"))
    assert old is not None
    assert new is not None
    assert (old.full, new.head_sha) == ("", old.head_sha)
    assert "full" in new.full
    with store.reading() as session:
        assert session.get_one(Run, old.id).state is RunState.CANCELLED


def test_the_labels_of_opening_told_again_open_nothing(store: Store, deliver: Deliver) -> None:
    run = deliver("d1", "pull_request", labelled("opened", "full"))
    assert run is not None
    assert deliver("d2", "pull_request", labelled("labeled", "full", label="full")) is None
    with store.reading() as session:
        assert stored(session, "d2").note == f"every test of this commit runs already, in run {run.id}"
        assert session.get_one(Run, run.id).state is RunState.RECEIVED


def test_another_label_opens_nothing(store: Store, deliver: Deliver) -> None:
    assert deliver("d1", "pull_request", labelled("labeled", "full", label="module: nn")) is None
    with store.reading() as session:
        assert "module: nn" in stored(session, "d1").note


def test_closing_cancels_and_opens_nothing(store: Store, deliver: Deliver) -> None:
    run = deliver("d1", "pull_request", pull())
    assert run is not None
    assert deliver("d2", "pull_request", pull("closed")) is None
    with store.reading() as session:
        assert session.get_one(Run, run.id).state is RunState.CANCELLED
        assert stored(session, "d2").note == f"cancelled runs: {run.id}"


def test_a_change_is_a_run_on_every_device_which_only_a_newer_one_of_its_device_supersedes(store: Store) -> None:
    def deliver(delivery_id: str, head: str, *devices: str) -> tuple[str, ...]:
        with store.writing() as session:
            body = json.dumps(pull("synchronize", head * 40)).encode()
            row, _ = record_delivery(session, delivery_id, "pull_request", body, START)
            return process_delivery(session, row.id, devices, START)

    assert deliver("d1", "1", DEVICE, "quartz") == (DEVICE, "quartz")
    assert deliver("d2", "3", "quartz") == ("quartz",)
    with store.reading() as session:
        runs = session.scalars(select(Run).order_by(Run.id)).all()
        assert [(run.device, run.state) for run in runs] == [
            *((DEVICE, RunState.RECEIVED), ("quartz", RunState.CANCELLED), ("quartz", RunState.RECEIVED)),
        ]
        first = stored(session, "d1")
        assert first.run_id == runs[0].id
        assert first.note == f"a run for each device: {runs[0].id} on {DEVICE}, {runs[1].id} on quartz"


def test_where_no_device_takes_part_the_delivery_says_so(store: Store) -> None:
    with store.writing() as session:
        row, _ = record_delivery(session, "d1", "pull_request", json.dumps(pull()).encode(), START)
        assert process_delivery(session, row.id, (), START) == ()
        assert row.state is DeliveryState.IGNORED
        assert "no backend takes part" in row.note


def test_merging_cancels_nothing(store: Store, deliver: Deliver) -> None:
    """The change is there to stay, and so is the question what it breaks."""
    run = deliver("d1", "pull_request", pull())
    assert run is not None
    merged = pull("closed")
    merged["pull_request"]["merged"] = True
    assert deliver("d2", "pull_request", merged) is None
    with store.reading() as session:
        assert session.get_one(Run, run.id).state is RunState.RECEIVED
        assert "merged" in stored(session, "d2").note


def test_a_push_to_the_default_branch_becomes_a_run(deliver: Deliver) -> None:
    run = deliver("d1", "push", PUSH)
    assert run is not None
    assert (run.pr_number, run.base_sha, run.head_sha, run.title) == (None, "a" * 40, "b" * 40, "Fold two loops")
    assert run.fetch_ref == "refs/heads/main"


@pytest.mark.parametrize(
    ("event", "payload", "word"),
    [
        ("push", PUSH | {"ref": "refs/tags/v1"}, "refs/tags/v1"),
        ("push", PUSH | {"after": "0" * 40}, "deleted"),
        ("pull_request", pull("labeled"), "labeled"),
        ("pull_request", pull() | {"pull_request": None}, "malformed"),
        ("check_run", {}, "check_run"),
    ],
)
def test_what_is_not_acted_on_is_kept_with_its_reason(
    store: Store, deliver: Deliver, event: str, payload: dict[str, Any], word: str
) -> None:
    assert deliver("d1", event, payload) is None
    with store.reading() as session:
        row = stored(session, "d1")
        assert row.state is DeliveryState.IGNORED
        assert word in row.note


def test_processing_twice_makes_one_run(store: Store, deliver: Deliver) -> None:
    deliver("d1", "pull_request", pull())
    with store.writing() as session:
        assert process_delivery(session, stored(session, "d1").id, (DEVICE,), START) == ()
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Run)) == 1


def test_the_sweep_takes_up_what_was_left(context: RelayContext) -> None:
    """A process that died between its answer and the work leaves a row in state `received`."""
    waker = CountingWaker()
    with context.store.writing() as session:
        for number in range(3):
            body = json.dumps(pull(head=str(number + 3) * 40)).encode()
            record_delivery(session, f"d{number}", "pull_request", body, START)
    sweeping = replace(context, waker=waker)
    assert sweep_deliveries(sweeping) == 3
    assert sweep_deliveries(sweeping) == 0
    with context.store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Run)) == 3
    assert waker.woken == [context.settings.device] * 3


def test_a_database_fault_leaves_the_delivery_for_the_next_sweep(context: RelayContext) -> None:
    with context.store.writing() as session:
        row, _ = record_delivery(session, "d1", "pull_request", json.dumps(pull()).encode(), START)
        session.execute(text("ALTER TABLE run_events RENAME TO hidden"))
    handle_delivery(context, row.id)
    with context.store.writing() as session:
        assert stored(session, "d1").state is DeliveryState.RECEIVED
        session.execute(text("ALTER TABLE hidden RENAME TO run_events"))
    assert sweep_deliveries(context) == 1
    with context.store.reading() as session:
        assert stored(session, "d1").state is DeliveryState.PROCESSED


def kept(context: RelayContext, count_: int, first: int = 0) -> list[int]:
    """Pull requests that wait in the inbox."""
    with context.store.writing() as session:
        bodies = [json.dumps(pull(head=f"{number + 1:040x}")).encode() for number in range(first, first + count_)]
        return [
            record_delivery(session, f"d{number}", "pull_request", body, START)[0].id
            for number, body in enumerate(bodies, first)
        ]


def states(context: RelayContext) -> list[DeliveryState]:
    with context.store.reading() as session:
        return list(session.scalars(select(Delivery.state).order_by(Delivery.id)))


def failing(monkeypatch: pytest.MonkeyPatch, fault: Exception, rows: Container[int]) -> None:
    """Whoever handles one of these rows runs into the fault."""
    real = deliveries.process_delivery

    def process(session: Session, row_id: int, *given: Any, **named: Any) -> tuple[str, ...]:
        if row_id in rows:
            raise fault
        return real(session, row_id, *given, **named)

    monkeypatch.setattr(deliveries, "process_delivery", process)


def test_a_delivery_that_shows_a_bug_is_failed_and_keeps_no_other(
    inbox: RelayContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its note names the fault, and nothing of what the payload says. It is not tried again."""
    _, bad, _ = kept(inbox, 3)
    failing(monkeypatch, KeyError("a secret of the payload"), {bad})
    assert sweep_deliveries(inbox) == 3
    assert states(inbox) == [DeliveryState.PROCESSED, DeliveryState.FAILED, DeliveryState.PROCESSED]
    with inbox.store.reading() as session:
        assert stored(session, "d1").note == "the relay's own fault: KeyError"
    assert sweep_deliveries(inbox) == 0


@pytest.mark.parametrize("fault", [DataError("insert", {}, Exception("no")), OSError("too many open files")])
def test_deliveries_that_are_always_postponed_keep_no_younger_one(
    inbox: RelayContext, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    """However many: more than are looked at in one go."""
    old = kept(inbox, 60)
    kept(inbox, 2, first=60)
    failing(monkeypatch, fault, set(old))
    assert sweep_deliveries(inbox) == 62
    assert states(inbox) == [DeliveryState.RECEIVED] * 60 + [DeliveryState.PROCESSED] * 2


def test_a_delivery_whose_failure_cannot_be_noted_keeps_no_other(
    inbox: RelayContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for the next sweep."""
    bad, _ = kept(inbox, 2)
    failing(monkeypatch, KeyError("a bug"), {bad})

    def away(*_: object) -> None:
        raise DataError("update", {}, Exception("no"))

    monkeypatch.setattr(deliveries, "_note_failure", away)
    sweep_deliveries(inbox)
    assert states(inbox) == [DeliveryState.RECEIVED, DeliveryState.PROCESSED]


def test_a_sweep_ends_in_time_though_much_is_waiting(inbox: RelayContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other steps of the sweep wait for it; the rest comes with the next one."""
    kept(inbox, 60)
    monkeypatch.setattr(deliveries, "_SWEEP_S", 0.0)
    assert [sweep_deliveries(inbox) for _ in range(3)] == [50, 10, 0]
