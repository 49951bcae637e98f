"""Two replicas are one service: what is counted, told, granted, sent and leased through one holds at the other. The
tests share the replicas and come in the order in which they stand; the last one ends a replica."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import httpx
import pytest
from sqlalchemy import func, select

from relay.access.sign_in_limit import PER_ADDRESS
from relay.runs.event_listing import newest_event_id
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState
from relay.store.duty_models import Duty
from relay.store.models import Delivery, Run
from tests.conformance.payloads import pull_request, push
from tests.conftest import MakeDatabase
from tests.relay.web.signing_in import form_token
from tests.replicas.pair import BACKENDS, DEVICE, LIST, RATE_PER_MIN, Pair, Replica, serving_pair
from tests.waiting import until

pytestmark = pytest.mark.e2e

_CHANGES = 20
#: The lease of the sweep at the speed of these tests, and what a loaded machine takes besides.
_TAKES_OVER_S = 5.0 + 15.0
_numbers = count(1)


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory, make_postgres_database: MakeDatabase, valkey_url: str
) -> Iterator[Pair]:
    with serving_pair(tmp_path_factory.mktemp("pair"), make_postgres_database("ready"), valkey_url) as found:
        yield found


def open_pull(replica: Replica) -> int:
    """A pull request of its own is opened; its number."""
    number = next(_numbers)
    assert replica.webhook("pull_request", pull_request(sha=f"{number:040x}", number=number), f"opened-{number}") == 200
    return number


def run_of(pair: Pair, number: int) -> int:
    """The run of a pull request, once there is one."""

    def found() -> int | None:
        with pair.store.reading() as session:
            return session.scalar(select(Run.id).where(Run.pr_number == number))

    until(lambda: found() is not None, f"a run of pull request {number}", 30)
    run_id = found()
    assert run_id is not None
    return run_id


def test_every_letter_is_sent_once(pair: Pair) -> None:
    """200 of them with both outboxes going, though each delivery comes to both replicas at once."""

    def deliver(number: int) -> set[int]:
        body = pull_request(sha=f"{number:040x}", number=number)
        return set(pair.at_once(lambda replica: replica.webhook("pull_request", body, f"opened-{number}"), 2))

    numbers = [next(_numbers) for _ in range(_CHANGES)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(deliver, numbers)) == [{200}] * _CHANGES
    letters = select(func.count()).where(OutboxItem.kind == OutboxKind.DISPATCH)

    def all_sent() -> bool:
        with pair.store.reading() as session:
            return session.scalar(letters.where(OutboxItem.state == OutboxState.SENT)) == _CHANGES * len(BACKENDS)

    until(all_sent, lambda: f"{len(pair.github.dispatches)} of {_CHANGES * len(BACKENDS)} letters", 60)
    told = Counter((sent.repo, sent.client_payload["delivery_id"]) for sent in pair.github.dispatches)
    assert set(told) == {(repo, f"opened-{number}") for repo in BACKENDS for number in numbers}
    assert set(told.values()) == {1}
    with pair.store.reading() as session:
        assert session.scalar(select(func.count()).select_from(Delivery)) == _CHANGES


def test_every_shard_is_leased_once(pair: Pair) -> None:
    """Three workers that ask at both replicas, all the time."""
    until(lambda: _runs(pair) == _CHANGES, "all runs are there", 30)
    empty = threading.Event()

    def work(name: str) -> list[int]:
        mine = []
        while not empty.is_set():
            answer = pair.next.work("lease", worker=name, device=DEVICE)
            if answer.status_code == 204:
                empty.set()
            else:
                assert answer.status_code == 200, answer.text
                mine.append(answer.json()["shard_id"])
        return mine

    with ThreadPoolExecutor(3) as pool:
        leased = [shard for mine in pool.map(work, ("one", "two", "three")) for shard in mine]
    assert len(leased) == len(set(leased)) == _CHANGES


def _runs(pair: Pair) -> int:
    with pair.store.reading() as session:
        return session.scalar(select(func.count()).select_from(Run)) or 0


def test_a_backends_calls_are_counted_over_both(pair: Pair) -> None:
    """Its limit is not one for each replica."""
    statuses, began = [], time.monotonic()
    for number in range(3 * RATE_PER_MIN):
        token = pair.github.oidc.mint(BACKENDS[0], run_id=number + 1)
        statuses.append(pair.next.ask("POST", "/github/callback", token=token, json={}).status_code)
    heard = len(statuses) - statuses.count(429)
    grown = (time.monotonic() - began) * RATE_PER_MIN / 60
    assert RATE_PER_MIN <= heard <= RATE_PER_MIN + grown + 1


def test_tries_to_sign_in_are_counted_over_both(pair: Pair) -> None:
    """Each time with a form that the other replica gave."""
    answers, began = [], time.monotonic()
    with httpx.Client(trust_env=False, timeout=30) as browser:
        for _ in range(PER_ADDRESS * 3 // 2):
            page = browser.get(f"{pair.next.url}/sign-in")
            fields = {"form_token": form_token(page.text), "next": "/", "token": "not-a-token-of-anybody"}
            answers.append(browser.post(f"{pair.next.url}/sign-in", data=fields).status_code)
    assert set(answers) == {401, 429}
    grown = (time.monotonic() - began) * PER_ADDRESS / 60
    assert PER_ADDRESS <= answers.count(401) <= PER_ADDRESS + grown + 1


class Listener:
    """Reads the events of one replica in a thread, until it has heard enough."""

    def __init__(self, replica: Replica, after: int, wanted: int) -> None:
        self.heard: list[tuple[int, str]] = []
        self._ask = (f"{replica.url}/api/v1/events", {"Last-Event-ID": str(after)}, wanted)
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        url, headers, wanted = self._ask
        with httpx.stream("GET", url, headers=headers, timeout=30, trust_env=False) as answer:
            event = {"id": "", "event": "message"}
            for line in answer.iter_lines():
                name, _, value = line.partition(": ")
                if not line and event.pop("event") == "message":
                    self.heard.append((int(event["id"]), event["data"]))
                event = {**event, name: value} if line else {"id": "", "event": "message"}
                if len(self.heard) >= wanted:
                    return

    def told(self) -> list[tuple[int, str]]:
        self._thread.join(40)
        return self.heard


def test_events_are_told_by_either_with_the_same_ids(pair: Pair) -> None:
    """Whichever caused them; and who was cut off by one goes on at the other without a gap."""
    first, second = pair.replicas
    with pair.store.reading() as session:
        begun = newest_event_id(session)
    listeners = [Listener(replica, begun, 6) for replica in pair.replicas]
    for replica in (first, second, first):
        run = run_of(pair, open_pull(replica))
        assert replica.ask("POST", f"/api/v1/runs/{run}/cancel").status_code == 200
    heard = [listener.told() for listener in listeners]
    assert heard[0] == heard[1]
    assert len(heard[0]) == 6
    assert [number for number, _ in heard[0]] == sorted({number for number, _ in heard[0]})
    resumed = Listener(second, heard[0][2][0], 3)
    assert resumed.told() == heard[0][3:6]


def test_a_token_is_good_and_bad_at_both_at_once(pair: Pair) -> None:
    first, second = pair.replicas
    made = first.ask("POST", "/api/v1/tokens", json={"name": "ci", "scope": "operate"}).json()
    assert second.ask("GET", "/api/v1/actions", token=made["token"]).status_code == 200
    assert second.ask("DELETE", f"/api/v1/tokens/{made['about']['id']}").status_code == 200
    assert {replica.ask("GET", "/api/v1/actions", token=made["token"]).status_code for replica in pair.replicas} == {
        401
    }


def test_a_push_to_the_allowlist_reaches_the_other(pair: Pair) -> None:
    """Which was told nothing, and for whose own look it is a quarter of an hour too early."""
    first, second = pair.replicas

    def listed(replica: Replica) -> bool:
        return "a/newcomer" in replica.ask("GET", "/api/v1/backends").text

    assert not listed(second)
    pair.files[LIST] += "  - a/newcomer\n"
    body = push(after="e" * 40)
    body["commits"][0]["modified"] = [LIST]
    assert first.webhook("push", body, "push-of-the-list") == 200
    until(lambda: listed(second), "the other replica knows the newcomer", 30)
    assert listed(first)


def test_a_rerun_pressed_at_both_at_once_is_one_run(pair: Pair) -> None:
    run = run_of(pair, open_pull(pair.next))
    assert pair.next.ask("POST", f"/api/v1/runs/{run}/cancel").status_code == 200
    answers = pair.at_once(lambda replica: replica.ask("POST", f"/api/v1/runs/{run}/rerun", json={}), 6)
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["id"] for answer in answers}) == 1


def sweeps(pair: Pair) -> Duty:
    """Who sweeps, and until when that is theirs."""
    with pair.store.reading() as session:
        return session.scalars(select(Duty).where(Duty.name == "sweep")).one()


def test_another_sweeps_when_the_one_who_did_was_killed(pair: Pair) -> None:
    """The whole replica, at once; nothing else is said to anybody."""
    leader = int(sweeps(pair).holder.split(":")[1])
    parents = {int(_parent(replica_child)): replica_child for replica_child in _backgrounds(pair)}
    assert leader in parents.values()
    done = sweeps(pair).done_at
    until(lambda: sweeps(pair).done_at != done, "the leader sweeps on", 20)
    assert int(sweeps(pair).holder.split(":")[1]) == leader
    killed = next(replica for replica in pair.replicas if parents.get(replica.process.pid) == leader)
    other = next(replica for replica in pair.replicas if replica is not killed)
    for process in (killed.process.pid, leader):
        os.kill(process, signal.SIGKILL)
    killed.process.wait()
    began = time.monotonic()
    until(lambda: int(sweeps(pair).holder.split(":")[1]) != leader, "another sweeps", _TAKES_OVER_S)
    assert time.monotonic() - began < _TAKES_OVER_S
    assert parents[other.process.pid] == int(sweeps(pair).holder.split(":")[1])
    assert run_of(pair, open_pull(other))
    until(other.ready, "the one that is left is ready", 20)


def _backgrounds(pair: Pair) -> list[int]:
    """The processes below the replicas that sweep."""
    below = [
        int(child)
        for replica in pair.replicas
        for file in Path(f"/proc/{replica.process.pid}/task").glob("*/children")
        for child in file.read_text().split()
    ]
    return [child for child in below if b"\0background\0" in Path(f"/proc/{child}/cmdline").read_bytes()]


def _parent(process: int) -> str:
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1]
