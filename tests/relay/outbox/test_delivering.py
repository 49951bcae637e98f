"""Every row is delivered once, in the order of its lane, whatever fails in between."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from sqlalchemy.exc import OperationalError

from relay.outbox import delivering
from relay.outbox.delivering import Deliverer
from relay.outbox.leasing import claim
from relay.outbox.replay import replay
from relay.outbox.retrying import RetryTerms
from relay.outbox.types import Letter, Postponed, Sent, Undeliverable
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState
from relay.store.engine import Store
from tests.relay.outbox.posts import Clock, Post, deliverer, put, row
from tests.relay.stories import START
from tests.waiting import until


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_what_is_due_is_sent_once_and_settled(store: Store, clock: Clock) -> None:
    post = Post()
    put(store, "a", "b", "c")
    outbox = deliverer(store, post, clock)
    assert (outbox.deliver_due(), outbox.deliver_due()) == (3, 0)
    assert post.counted() == {"a": 1, "b": 1, "c": 1}
    done = row(store, "a")
    assert (done.state, done.attempts, done.settled_at, done.lease_id) == (OutboxState.SENT, 1, START, None)
    assert sorted(post.booked) == [("a", Sent()), ("b", Sent()), ("c", Sent())]


def test_a_postponed_row_waits_and_is_tried_again(store: Store, clock: Clock) -> None:
    post = Post()
    post.endings["a"].append(Postponed("HTTP 500", 500))
    put(store, "a")
    outbox = deliverer(store, post, clock)
    assert outbox.deliver_due() == 1
    waiting = row(store, "a")
    assert (waiting.state, waiting.last_status, waiting.last_error) == (OutboxState.DUE, 500, "HTTP 500")
    assert START < waiting.due_at <= START + timedelta(seconds=2)
    clock.tick(2)
    assert outbox.deliver_due() == 1
    done = row(store, "a")
    assert (done.state, done.attempts, done.last_error) == (OutboxState.SENT, 2, "")


def test_a_time_that_the_other_side_named_is_waited_for(store: Store, clock: Clock) -> None:
    post = Post()
    post.endings["a"].append(Postponed("rate limit", 403, after_s=1800))
    put(store, "a")
    outbox = deliverer(store, post, clock)
    outbox.deliver_due()
    clock.tick(1799)
    assert outbox.deliver_due() == 0
    clock.tick(4)
    assert outbox.deliver_due() == 1


def test_a_refused_row_is_dead_and_holds_up_nobody(store: Store, clock: Clock) -> None:
    post = Post()
    post.endings["a"].append(Undeliverable("HTTP 422: too large", 422))
    put(store, "a", "b", lane="one")
    deliverer(store, post, clock).deliver_due()
    assert (row(store, "a").state, row(store, "a").last_error) == (OutboxState.DEAD, "HTTP 422: too large")
    assert row(store, "b").state is OutboxState.SENT


def test_rows_of_a_lane_leave_in_order_and_wait_for_one_that_was_postponed(store: Store, clock: Clock) -> None:
    post = Post()
    post.endings["a"].append(Postponed("away"))
    put(store, "a", "b", "c", lane="one")
    put(store, "other")
    outbox = deliverer(store, post, clock)
    outbox.deliver_due()
    assert sorted(post.sent) == ["a", "other"]
    clock.tick(5)
    outbox.deliver_due()
    assert [key for key in post.sent if key != "other"] == ["a", "a", "b", "c"]


@pytest.mark.parametrize("terms", [RetryTerms(max_attempts=2), RetryTerms(max_age_s=5)])
def test_a_row_is_given_up_after_attempts_or_age_and_the_sender_is_told(
    store: Store, clock: Clock, terms: RetryTerms
) -> None:
    post = Post()
    post.endings["a"].extend([Postponed("away", 502)] * 2)
    put(store, "a")
    outbox = deliverer(store, post, clock, terms=terms)
    outbox.deliver_due()
    clock.tick(5)
    outbox.deliver_due()
    dead = row(store, "a")
    assert (dead.state, dead.settled_at, dead.last_status) == (OutboxState.DEAD, clock.at, 502)
    assert post.booked[-1] == ("a", Undeliverable("given up at attempt 2: away", 502))


def test_a_dead_row_that_is_replayed_has_all_its_attempts_again(store: Store, clock: Clock) -> None:
    post = Post()
    post.endings["a"].extend([Postponed("away")] * 2)
    (item,) = put(store, "a")
    outbox = deliverer(store, post, clock, terms=RetryTerms(max_attempts=2, max_age_s=60))
    outbox.deliver_due()
    clock.tick(10_000)
    outbox.deliver_due()
    assert row(store, "a").state is OutboxState.DEAD
    post.endings["a"].append(Postponed("still away"))
    with store.writing() as session:
        assert replay(session, [item, item + 1], clock()) == [item]
    with store.writing() as session:
        assert replay(session, [item], clock()) == []
    outbox.deliver_due()
    assert row(store, "a").state is OutboxState.DUE
    clock.tick(10)
    outbox.deliver_due()
    assert row(store, "a").state is OutboxState.SENT


def test_a_row_whose_process_died_is_sent_when_its_lease_ends(store: Store, clock: Clock) -> None:
    post = Post()
    ids = put(store, "a")
    with store.writing() as session:
        assert len(claim(session, ids, clock(), lease_s=30)) == 1
    outbox = deliverer(store, post, clock)
    assert outbox.deliver_due() == 0
    clock.tick(31)
    assert outbox.deliver_due() == 1
    assert row(store, "a").attempts == 2


def test_an_ending_after_the_lease_was_lost_changes_nothing(store: Store, clock: Clock) -> None:
    post, other = Post(), Post()
    put(store, "a")

    def outlive_the_lease(_: Letter) -> None:
        clock.tick(31)
        deliverer(store, other, clock).deliver_due()

    post.during = outlive_the_lease
    post.endings["a"].append(Undeliverable("late"))
    deliverer(store, post, clock).deliver_due()
    assert (row(store, "a").state, post.booked) == (OutboxState.SENT, [])


def test_rows_without_a_sender_wait(store: Store, clock: Clock) -> None:
    put(store, "check", kind=OutboxKind.CHECK_RUN)
    assert deliverer(store, Post(), clock).deliver_due() == 0
    assert row(store, "check").state is OutboxState.DUE


def test_rows_are_delivered_at_once_whether_due_or_not(store: Store, clock: Clock) -> None:
    post = Post()
    post.endings["b"].append(Undeliverable("no", 404))
    post.endings["c"].append(Postponed("later"))
    ids = put(store, "a", "b", "c")
    clock.tick(-10)
    outbox = deliverer(store, post, clock)
    assert outbox.deliver_due() == 0
    assert list(outbox.deliver_now(ids).values()) == [Sent(), Undeliverable("no", 404), Postponed("later")]
    assert outbox.deliver_now(ids[:2]) == {}
    assert outbox.deliver_now([]) == {}


def test_no_more_are_on_their_way_than_there_are_workers(store: Store, clock: Clock) -> None:
    post = Post(during=lambda _: time.sleep(0.01))
    ids = put(store, *map(str, range(12)))
    assert len(deliverer(store, post, clock, workers=3).deliver_now(ids)) == 12
    assert 1 < post.most_at_once <= 3


def test_a_sender_that_fails_keeps_the_row(store: Store, clock: Clock) -> None:
    def fail(_: Letter) -> None:
        raise ZeroDivisionError

    post = Post(during=fail)
    put(store, "a")
    deliverer(store, post, clock).deliver_due()
    assert (row(store, "a").state, row(store, "a").last_error) == (
        OutboxState.DUE,
        "the relay's own fault: ZeroDivisionError",
    )


def test_a_row_whose_books_fail_is_parked_and_others_of_its_batch_are_settled(store: Store, clock: Clock) -> None:
    def fail(item: OutboxItem) -> None:
        if item.key == "a":
            raise ZeroDivisionError

    post = Post(booking=fail)
    put(store, "a", "b")
    deliverer(store, post, clock).deliver_due()
    assert (row(store, "a").state, row(store, "b").state) == (OutboxState.DEAD, OutboxState.SENT)
    assert "ZeroDivisionError" in row(store, "a").last_error


def test_several_processes_together_send_each_row_once(store: Store, clock: Clock) -> None:
    post = Post()
    keys = [f"{lane}-{number}" for lane in range(10) for number in range(5)]
    for lane in range(10):
        put(store, *keys[lane * 5 : lane * 5 + 5], lane=str(lane))
    outboxes = [deliverer(store, post, clock) for _ in range(4)]
    for outbox in outboxes:
        outbox.start()
    until(lambda: len(post.booked) >= len(keys))
    for outbox in outboxes:
        outbox.stop()
    assert post.counted() == dict.fromkeys(keys, 1)
    for lane in range(10):
        assert [key for key in post.sent if key.startswith(f"{lane}-")] == keys[lane * 5 : lane * 5 + 5]


def test_a_committed_row_is_sent_without_anybody_calling(store: Store, clock: Clock) -> None:
    """The poll is too rare here: it is the bell that wakes the deliverer."""
    post = Post()
    outbox = deliverer(store, post, clock)
    outbox._poll_s = 30.0
    outbox.start()
    started = time.monotonic()
    put(store, "a")
    until(lambda: row(store, "a").state is OutboxState.SENT)
    outbox.stop()
    assert time.monotonic() - started < 20


def test_a_stop_waits_for_what_is_on_its_way(store: Store, clock: Clock) -> None:
    on_its_way, go_on = threading.Event(), threading.Event()

    def wait(_: Letter) -> None:
        on_its_way.set()
        assert go_on.wait(20)

    post = Post(during=wait)
    put(store, "a", "b", lane="one")
    outbox = deliverer(store, post, clock)
    outbox.start()
    assert on_its_way.wait(20)
    stopping = threading.Thread(target=outbox.stop)
    stopping.start()
    go_on.set()
    stopping.join(20)
    assert (row(store, "a").state, row(store, "b").state) == (OutboxState.SENT, OutboxState.DUE)


def test_the_lease_of_a_slow_letter_is_prolonged(store: Store, clock: Clock) -> None:
    on_its_way, go_on = threading.Event(), threading.Event()

    def wait(_: Letter) -> None:
        on_its_way.set()
        assert go_on.wait(20)

    put(store, "a")
    outbox = deliverer(store, Post(during=wait), clock)
    outbox._lease_s = 0.3
    outbox.start()
    assert on_its_way.wait(20)
    clock.tick(100)
    until(lambda: (row(store, "a").lease_expires_at or START) > clock.at)
    go_on.set()
    outbox.stop()
    assert row(store, "a").state is OutboxState.SENT


def test_a_clock_that_jumps_sends_nothing_twice(store: Store, clock: Clock) -> None:
    """The lease of what is on its way is over by it, and its holder is the one who looks for such rows."""
    on_its_way, go_on = threading.Event(), threading.Event()

    def wait(letter: Letter) -> None:
        if letter.key == "slow":
            on_its_way.set()
            assert go_on.wait(20)

    post = Post(during=wait)
    put(store, "slow")
    outbox = deliverer(store, post, clock)
    outbox.start()
    assert on_its_way.wait(20)
    clock.tick(3600)
    put(store, "after the jump")
    until(lambda: row(store, "after the jump").state is OutboxState.SENT)
    go_on.set()
    outbox.stop()
    assert post.counted() == {"slow": 1, "after the jump": 1}
    assert row(store, "slow").state is OutboxState.SENT


def test_a_database_that_is_away_ends_nothing(store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    post, away = Post(), threading.Event()
    outbox = deliverer(store, post, clock)
    real = store.reading

    def reading() -> object:
        away.set()
        raise OperationalError("select", {}, Exception("connection refused"))

    monkeypatch.setattr(store, "reading", reading)
    outbox.start()
    assert away.wait(20)
    monkeypatch.setattr(store, "reading", real)
    put(store, "a")
    until(lambda: row(store, "a").state is OutboxState.SENT)
    outbox.stop()


@pytest.mark.parametrize("step", ["_renew", "_land", "_launch"])
def test_a_turn_that_fails_does_not_end_it(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Whichever of its steps: what is put in afterwards is sent."""
    post, failed = Post(), threading.Event()
    monkeypatch.setattr(delivering, "_PAUSE_S", 0.01)
    outbox = Deliverer(store, {OutboxKind.HUD: post}, clock, 4, lease_s=0.0 if step == "_renew" else 30.0, poll_s=0.05)
    real = getattr(outbox, step)

    def fail(*_: object) -> None:
        failed.set()
        monkeypatch.setattr(outbox, step, real)
        raise RuntimeError("a bug")

    monkeypatch.setattr(outbox, step, fail)
    outbox.start()
    assert failed.wait(20)
    put(store, "a")
    until(lambda: row(store, "a").state is OutboxState.SENT)
    outbox.stop()


def test_it_can_be_stopped_though_no_ending_can_be_settled(
    store: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a fault that comes at every turn: the letter's lease runs out, and another process has it."""
    post, failed = Post(), threading.Event()
    outbox = deliverer(store, post, clock)
    monkeypatch.setattr(delivering, "_PAUSE_S", 0.01)

    def fail(flights: dict[object, object]) -> None:
        if flights:
            failed.set()
            raise RuntimeError("a bug")

    monkeypatch.setattr(outbox, "_land", fail)
    put(store, "a")
    outbox.start()
    assert failed.wait(20)
    outbox.stop()
    assert row(store, "a").state is OutboxState.SENDING
