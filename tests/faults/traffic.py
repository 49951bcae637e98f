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
from random import Random

import httpx

from relay.intake.signature import SIGNATURE_HEADER, sign
from tests.conformance.payloads import pull_request, push
from tests.faults.lots import lots
from tests.faults.upstream import Upstream, UpstreamCommit

_ANSWER_S = 10.0
_PATIENCE_S = 120.0
_SENDERS = 4


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
    """What was taken, by its delivery id, and what was never taken."""

    accepted: dict[str, int] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    tries: int = 0


def schedule(upstream: Upstream, seconds: float, random: Random) -> list[Webhook]:
    """One webhook for each change, and others between them, spread over the time."""
    made: list[Webhook] = []
    opened: list[int] = []
    step = seconds / len(upstream.commits)
    for number, commit in enumerate(upstream.commits):
        at = number * step + random.uniform(0, step)
        made.append(_about(commit, number, at, opened, random))
        if random.random() < 0.15:
            first = random.choice(made)
            late = at + random.uniform(0.1, 5)
            made.append(Webhook(late, first.delivery_id, first.event, first.body, first.pull, first.head, again=True))
        if opened and random.random() < 0.08:
            pull, action = random.choice(opened), random.choice(("closed", "edited"))
            made.append(_pull(f"{action}-{number}", at, action, pull, commit))
    return sorted(made, key=lambda each: each.at)


def _about(commit: UpstreamCommit, number: int, at: float, opened: list[int], random: Random) -> Webhook:
    chance = random.random()
    if chance < 0.2:
        payload = push(after=commit.sha, before=commit.base)
        return Webhook(at, f"push-{number}", "push", json.dumps(payload).encode())
    if chance < 0.55 and opened:
        # Soon after the last push to it, as people do who see what they forgot.
        return _pull(f"synchronize-{number}", at, "synchronize", random.choice(opened[-4:]), commit)
    opened.append(len(opened) + 1)
    return _pull(f"opened-{number}", at, "opened", opened[-1], commit)


def _pull(delivery: str, at: float, action: str, number: int, commit: UpstreamCommit) -> Webhook:
    payload = pull_request(action, sha=commit.sha, number=number)
    payload["pull_request"]["base"]["sha"] = commit.base
    return Webhook(at, delivery, "pull_request", json.dumps(payload).encode(), number, commit.sha)


class Traffic:
    """Sends a schedule in threads of its own."""

    def __init__(
        self,
        ports: Sequence[int],
        secret: str,
        show: Callable[[int, str], None],
        webhooks: Sequence[Webhook],
        seed: int,
    ) -> None:
        self._ports = tuple(ports)
        self._secret = secret
        self._show = show
        self._webhooks = webhooks
        self._random = lots(seed, "traffic")
        self._lock = threading.Lock()
        self._started = 0.0
        self.sent = Sent()
        self._thread = threading.Thread(target=self._run, name="traffic")

    def start(self) -> None:
        self._started = time.monotonic()
        self._thread.start()

    def join(self) -> None:
        """Until everything was sent, and taken or given up."""
        self._thread.join()

    def _run(self) -> None:
        with httpx.Client(timeout=_ANSWER_S, trust_env=False) as client, ThreadPoolExecutor(_SENDERS) as senders:
            on_their_way = []
            for webhook in self._webhooks:
                time.sleep(max(0.0, self._started + webhook.at - time.monotonic()))
                if webhook.pull is not None and not webhook.again:
                    self._show(webhook.pull, webhook.head)
                on_their_way.append(senders.submit(self._deliver, client, webhook))
            for each in on_their_way:
                each.result()

    def _deliver(self, client: httpx.Client, webhook: Webhook) -> None:
        deadline, said = time.monotonic() + _PATIENCE_S, "never tried"
        headers = {
            "Content-Type": "application/json",
            "X-GitHub-Event": webhook.event,
            "X-GitHub-Delivery": webhook.delivery_id,
            SIGNATURE_HEADER: sign(self._secret, webhook.body),
        }
        while time.monotonic() < deadline:
            for port in self._random.sample(self._ports, len(self._ports)):
                self.sent.tries += 1
                try:
                    answer = client.post(
                        f"http://127.0.0.1:{port}/github/webhook", content=webhook.body, headers=headers
                    )
                except httpx.HTTPError as fault:
                    said = type(fault).__name__
                    continue
                if answer.status_code in (200, 202):
                    with self._lock:
                        self.sent.accepted[webhook.delivery_id] = answer.status_code
                    return
                said = f"HTTP {answer.status_code}: {answer.text[:200]}"
            time.sleep(0.2)
        with self._lock:
            self.sent.refused[webhook.delivery_id] = said
