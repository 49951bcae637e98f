"""The webhooks of a busy upstream, by seed: pull requests opened and pushed to again, pushes, edits, some closed; some
deliveries come twice.

The sender is a load balancer and GitHub's redelivery in one: it tries another replica where one does not answer, and
sends a delivery again until it is taken, for then nobody knows whether it was.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Self

import httpx

from relay.intake.signature import SIGNATURE_HEADER, sign
from tests.conformance.payloads import pull_request, push
from tests.faults.lots import lots
from tests.faults.upstream import UpstreamCommit

_ANSWER_S = 10.0
_PATIENCE_S = 120.0
_SENDERS = 4
_BEGAN = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Webhook:
    """One delivery and when it comes, in seconds from the start. `again`: its id came before."""

    at: float
    delivery_id: str
    event: str
    body: bytes
    pull: int | None = None
    head: str = ""
    again: bool = False


@dataclass
class Sent:
    """What was taken, by its delivery id, and what was never taken; the head that each open pull request came to."""

    accepted: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    newest: dict[int, str] = field(default_factory=dict)


def schedule(commits: Sequence[UpstreamCommit], seconds: float, random: Random) -> list[Webhook]:
    """One webhook for each change, and others between them, spread over the time."""
    made: list[Webhook] = []
    opened: list[int] = []
    step = seconds / len(commits)
    for number, commit in enumerate(commits):
        at = number * step + random.uniform(0, step)
        made.append(_about(commit, number, at, opened, random))
        if random.random() < 0.15:
            first = random.choice(made)
            late = at + random.uniform(0.1, 5)
            made.append(Webhook(late, first.delivery_id, first.event, first.body, first.pull, first.head, again=True))
        if opened and random.random() < 0.08:
            pull, action = random.choice(opened), random.choice(("closed", "edited"))
            made.append(_pull(f"{action}-{number}", at, action, pull, commit, second=2 * number + 1))
    return sorted(made, key=lambda each: each.at)


def newest_heads(webhooks: Sequence[Webhook]) -> dict[int, str]:
    """The commits that pull requests are at in the end, without those that were closed last."""
    heads: dict[int, str] = {}
    for webhook in webhooks:
        action = webhook.delivery_id.partition("-")[0]
        if webhook.pull is None or webhook.again or action == "edited":
            continue
        heads.pop(webhook.pull, None)
        if action != "closed":
            heads[webhook.pull] = webhook.head
    return heads


def _about(commit: UpstreamCommit, number: int, at: float, opened: list[int], random: Random) -> Webhook:
    chance = random.random()
    if chance < 0.2:
        return pushed(commit, f"push-{number}", at)
    if chance < 0.55 and opened:
        # Soon after the last push to it, as people do who see what they forgot.
        return _pull(f"synchronize-{number}", at, "synchronize", random.choice(opened[-4:]), commit, second=2 * number)
    opened.append(len(opened) + 1)
    return _pull(f"opened-{number}", at, "opened", opened[-1], commit, second=2 * number)


def pushed(commit: UpstreamCommit, delivery_id: str, at: float = 0.0) -> Webhook:
    """A change that is pushed: nothing supersedes it."""
    return Webhook(at, delivery_id, "push", json.dumps(push(after=commit.sha, before=commit.base)).encode())


def _pull(delivery: str, at: float, action: str, number: int, commit: UpstreamCommit, *, second: int) -> Webhook:
    """`second` is upstream's: however late it is taken, what upstream did after it counts more."""
    payload = pull_request(action, sha=commit.sha, number=number)
    payload["pull_request"]["base"]["sha"] = commit.base
    payload["pull_request"]["updated_at"] = (_BEGAN + timedelta(seconds=second)).isoformat()
    return Webhook(at, delivery, "pull_request", json.dumps(payload).encode(), number, commit.sha)


class Sender:
    """Delivers webhooks to the replicas at these ports, several at a time; `sent` is what became of them."""

    def __init__(self, ports: Sequence[int], secret: str, seed: int) -> None:
        self._ports = tuple(ports)
        self._secret = secret
        self._random = lots(seed, "traffic")
        self._lock = threading.Lock()
        self._client = httpx.Client(timeout=_ANSWER_S, trust_env=False)
        self.sent = Sent()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def send_all(self, webhooks: Sequence[Webhook], show: Callable[[int, str], None]) -> None:
        """Each at its moment, until everything was taken or given up. `show` puts the head of a pull request in place
        before its webhook."""
        self.sent.newest = newest_heads(webhooks)
        began, on_their_way = time.monotonic(), []
        with ThreadPoolExecutor(_SENDERS) as senders:
            for webhook in webhooks:
                time.sleep(max(0.0, began + webhook.at - time.monotonic()))
                if webhook.pull is not None and not webhook.again:
                    show(webhook.pull, webhook.head)
                on_their_way.append(senders.submit(self.send, webhook))
            for each in on_their_way:
                each.result()

    def send(self, webhook: Webhook) -> None:
        """Until a replica takes it."""
        deadline, said = time.monotonic() + _PATIENCE_S, "never tried"
        while time.monotonic() < deadline:
            for port in self._random.sample(self._ports, len(self._ports)):
                status, said = self._try(port, webhook)
                if status in (200, 202):
                    with self._lock:
                        self.sent.accepted[webhook.delivery_id] = status
                    return
            time.sleep(0.2)
        with self._lock:
            self.sent.refused[webhook.delivery_id] = said

    def _try(self, port: int, webhook: Webhook) -> tuple[int, str]:
        """The status, 0 without one, and what was said."""
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": webhook.event,
            "X-GitHub-Delivery": webhook.delivery_id,
            SIGNATURE_HEADER: sign(self._secret, webhook.body),
        }
        try:
            answer = self._client.post(f"http://127.0.0.1:{port}/github/webhook", content=webhook.body, headers=headers)
        except httpx.HTTPError as fault:
            return 0, type(fault).__name__
        return answer.status_code, f"HTTP {answer.status_code}: {answer.text[:200]}"
