"""What is old goes, in bounded batches and by its index; what is young, open or for good stays. On both databases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from pydantic import ValidationError
from sqlalchemy import Select, func, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite

from relay import retention
from relay.access.principals import Principal
from relay.access.sign_ins import sign_in
from relay.access_views import Scope
from relay.background import create_sweeper
from relay.context import RelayContext
from relay.contract import WorkerPresent
from relay.errors import ConflictError
from relay.intake.bodies import bodies_before
from relay.intake.deliveries import record_delivery
from relay.outbox.forgetting import settled_before
from relay.outbox.queue import NewItem, enqueue_all
from relay.retention import prune
from relay.runs.presence import say_present
from relay.settings import RelaySettings
from relay.store.access_models import SignIn
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState, RateBucket, SeenToken
from relay.store.engine import Store
from relay.store.log_models import LogChunk, ShardLog
from relay.store.models import Delivery, DeliveryState, PlannedTest, Run, RunEvent
from relay.store.presence_models import Worker
from relay.throttle import take_token
from tests.relay.stories import START, Story, planned, report_of

DAYS = 90
BODY = b'{"action": "synchronize"}'
NOW = START + timedelta(days=1_000)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def count(store: Store, model: type[object]) -> int:
    with store.reading() as session:
        return session.scalar(select(func.count()).select_from(model)) or 0


def webhook(store: Store, name: str, at: datetime, state: DeliveryState = DeliveryState.PROCESSED) -> int:
    with store.writing() as session:
        delivery, _ = record_delivery(session, name, "pull_request", BODY, at)
        delivery.state = state
    return delivery.id


def letter(store: Store, key: str, state: OutboxState, settled_at: datetime | None) -> int:
    with store.writing() as session:
        (row,) = enqueue_all(session, [NewItem(OutboxKind.DISPATCH, key, key, "a/l2", {"n": key})], ago(500))
        item = session.get_one(OutboxItem, row)
        item.state, item.settled_at = state, settled_at
    return row


def letters(store: Store) -> list[str]:
    with store.reading() as session:
        return list(session.scalars(select(OutboxItem.key).order_by(OutboxItem.id)))


def bodies(store: Store) -> dict[str, bytes]:
    with store.reading() as session:
        found = session.execute(select(Delivery.delivery_id, Delivery.payload).order_by(Delivery.id))
        return {row[0]: row[1] for row in found}


def test_settled_letters_go_and_open_ones_stay(store: Store) -> None:
    """Sent and dead ones alike; what waits is no matter of age."""
    letter(store, "sent long ago", OutboxState.SENT, ago(91))
    letter(store, "sent lately", OutboxState.SENT, ago(89))
    letter(store, "dead long ago", OutboxState.DEAD, ago(91))
    letter(store, "dead lately", OutboxState.DEAD, ago(89))
    letter(store, "waits", OutboxState.DUE, None)
    letter(store, "on its way", OutboxState.SENDING, None)
    assert prune(store, NOW, DAYS) == {"letters": 2}
    assert letters(store) == ["sent lately", "dead lately", "waits", "on its way"]
    assert prune(store, NOW, DAYS) == {}


def test_bodies_of_webhooks_go_and_the_webhooks_stay(store: Store) -> None:
    """One that was not handled keeps its body, however old it is."""
    webhook(store, "old", ago(91))
    webhook(store, "ignored", ago(91), DeliveryState.IGNORED)
    webhook(store, "waits", ago(91), DeliveryState.RECEIVED)
    webhook(store, "young", ago(89))
    assert prune(store, NOW, DAYS) == {"webhook_bodies": 2}
    assert bodies(store) == {"old": b"", "ignored": b"", "waits": BODY, "young": BODY}
    with store.reading() as session:
        old = session.scalars(select(Delivery).where(Delivery.delivery_id == "old")).one()
    assert (old.body_removed_at, old.state, len(old.body_sha256)) == (NOW, DeliveryState.PROCESSED, 64)
    assert prune(store, NOW, DAYS) == {}


def test_a_repeat_of_an_old_webhook_is_known_and_brings_its_body_back(store: Store) -> None:
    """What it asks for may have to be sent again; another content is still a contradiction."""
    row = webhook(store, "old", ago(91))
    prune(store, NOW, DAYS)
    with pytest.raises(ConflictError), store.writing() as session:
        record_delivery(session, "old", "pull_request", b"{}", NOW)
    with store.writing() as session:
        delivery, repeated = record_delivery(session, "old", "pull_request", BODY, NOW)
    assert (delivery.id, repeated) == (row, True)
    assert bodies(store) == {"old": BODY}
    assert prune(store, NOW, DAYS) == {"webhook_bodies": 1}


def test_what_is_over_goes_whatever_is_kept(store: Store) -> None:
    """Nobody can use it any more: ended sign-ins, expired tokens, full buckets, workers of other days."""
    hello = WorkerPresent(worker="w", device="spyre", process="p", version="1")
    with store.writing() as session:
        sign_in(session, Principal("me", Scope.ADMIN), "token", ago(1))
        for jti, expires_at in (("over", ago(1)), ("valid", NOW + timedelta(minutes=5))):
            session.add(SeenToken(issuer="i", jti=jti, body_digest="d", expires_at=expires_at))
        take_token(session, "idle", 10, ago(1))
        say_present(session, hello, ago(2))
    with store.writing() as session:
        session.add(RateBucket(key="busy", tokens=1, refilled_at=NOW))
        say_present(session, hello.model_copy(update={"worker": "here"}), NOW)
    removed = prune(store, NOW, 0)
    assert removed == {"workers": 1, "sign_ins": 1, "seen_tokens": 1, "rate_buckets": 1}
    assert [count(store, model) for model in (SignIn, SeenToken, RateBucket, Worker)] == [0, 1, 1, 1]


def test_zero_days_keep_everything_else(store: Store) -> None:
    letter(store, "sent long ago", OutboxState.SENT, ago(900))
    webhook(store, "old", ago(900))
    assert prune(store, NOW, 0) == {}
    assert letters(store) == ["sent long ago"]
    assert bodies(store) == {"old": BODY}


def test_logs_go_and_runs_with_all_they_tell_stay(store: Store) -> None:
    story = Story(store, now=ago(91))
    run = story.open()
    story.select(report_of([[planned("test/t.py::TestOpsSPYRE::test_a")]]))
    story.run_all({})
    with store.writing() as session:
        shard = session.scalars(select(PlannedTest.shard_id)).one()
        log = ShardLog(run_id=run, shard_id=shard, attempt=1, began_at=ago(91))
        session.add(log)
        session.flush()
        session.add(LogChunk(run_id=run, log_id=log.id, first_line=0, lines=1, bytes=1, body=[[0.0, "step", "a"]]))
    kept = (Run, PlannedTest, RunEvent)
    before = [count(store, model) for model in kept]
    assert prune(store, NOW, DAYS) == {"logs": 1}
    assert [count(store, model) for model in kept] == before
    assert (count(store, ShardLog), count(store, LogChunk)) == (0, 0)


def test_a_turn_is_bounded_and_the_next_goes_on(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest first."""
    monkeypatch.setattr(retention, "BATCH", 3)
    monkeypatch.setattr(retention, "BATCHES", 2)
    for number in range(8):
        letter(store, f"l{number}", OutboxState.SENT, ago(200 - number))
        webhook(store, f"w{number}", ago(200 - number))
    assert prune(store, NOW, DAYS) == {"letters": 6, "webhook_bodies": 6}
    assert letters(store) == ["l6", "l7"]
    assert [name for name, body in bodies(store).items() if body] == ["w6", "w7"]
    assert prune(store, NOW, DAYS) == {"letters": 2, "webhook_bodies": 2}


def test_replicas_may_do_it_at_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    from concurrent.futures import ThreadPoolExecutor

    monkeypatch.setattr(retention, "BATCH", 5)
    for number in range(60):
        letter(store, f"l{number}", OutboxState.SENT, ago(200))
    letter(store, "young", OutboxState.SENT, ago(1))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: prune(store, NOW, DAYS), range(4)))
    assert letters(store) == ["young"]


def _plan(store: Store, query: Select[int]) -> str:
    """How the database finds the rows, as it says itself."""
    on_postgres = store.engine.dialect.name == "postgresql"
    dialect = postgresql.dialect() if on_postgres else sqlite.dialect()  # type: ignore[no-untyped-call]  # has no types
    statement = str(query.compile(dialect=dialect, compile_kwargs={"literal_binds": True}))
    with store.engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
        if on_postgres:
            connection.execute(text("VACUUM ANALYZE"))
            rows: Sequence[object] = connection.exec_driver_sql(f"EXPLAIN {statement}").scalars().all()
        else:
            connection.execute(text("ANALYZE"))
            rows = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}")]
    return "\n".join(map(str, rows))


@pytest.mark.parametrize("done", [0, 3_000])
def test_what_is_old_is_found_in_an_index_alone(store: Store, done: int) -> None:
    """Also where nearly everything was done before: it is not read over and over."""
    with store.writing() as session:
        session.execute(
            insert(Delivery),
            [
                {
                    "delivery_id": f"d{number}",
                    "event": "push",
                    "body_sha256": "f" * 64,
                    "payload": b"" if number < done else BODY,
                    "received_at": ago(400 - number / 100),
                    "body_removed_at": ago(1) if number < done else None,
                    "state": DeliveryState.PROCESSED,
                    "note": "",
                }
                for number in range(4_000)
            ],
        )
        made = enqueue_all(
            session, [NewItem(OutboxKind.HUD, f"k{number}", "lane", "t", {}) for number in range(4_000)], ago(400)
        )
        for row in made:
            session.get_one(OutboxItem, row).settled_at = ago(400 - row / 100)
    for query in (bodies_before(ago(399), 100), settled_before(ago(399), 100)):
        plan = _plan(store, query)
        assert "COVERING INDEX" in plan or "Index Only Scan" in plan, plan
        assert "TEMP B-TREE" not in plan, plan
        assert "Sort" not in plan, plan


@pytest.mark.parametrize("days", ["1", "6", "-1", "soon"])
def test_a_time_in_which_repeats_come_is_refused(monkeypatch: pytest.MonkeyPatch, days: str) -> None:
    monkeypatch.setenv("RELAY_RETENTION_DAYS", days)
    with pytest.raises(ValidationError, match="retention_days"):
        RelaySettings()


def test_the_sweep_does_it(context: RelayContext) -> None:
    """With nobody asking, by the setting."""
    letter(context.store, "old", OutboxState.SENT, context.now() - timedelta(days=91))
    webhook(context.store, "old", context.now() - timedelta(days=91))
    create_sweeper(context).sweep()
    assert letters(context.store) == []
    assert json.loads(bodies(context.store)["old"] or b"null") is None
