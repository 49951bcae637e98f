"""Webhooks of apps: signed, sent once, remembered, and sent again when somebody asks.

GitHub tries a delivery once and waits ten seconds for the answer; it never repeats by itself.
Source: https://docs.github.com/en/webhooks/using-webhooks/handling-failed-webhook-deliveries
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import uuid4

import httpx

from relay.client import authorities
from relay.devgithub.records import App, Delivery, RefusedError, not_found
from relay.intake.signature import SIGNATURE_HEADER, sign

ANSWER_WITHIN_S = 10.0
_THREADS = 8
_KEPT_ANSWER = 10_000


class Hooks:
    """All deliveries, the oldest first, and the threads of those that nobody waits for."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self.deliveries: list[Delivery] = []
        self._now = now
        self._ids = itertools.count(1_001)
        self._lock = threading.Lock()
        self._lost = 0
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="devgithub-hook")
        self._pending: set[Future[Delivery]] = set()
        self._client = httpx.Client(timeout=ANSWER_WITHIN_S, verify=authorities(), trust_env=False)

    def lose_next(self, deliveries: int = 1) -> None:
        """Let the next deliveries fail as if nobody listened: they are remembered as failed."""
        with self._lock:
            self._lost += deliveries

    def send(self, app: App, event: str, payload: Mapping[str, Any], *, installation: int, repository: int) -> Delivery:
        """Deliver now, and wait for the answer. It never raises over the receiver."""
        return self._attempt(self._letter(app, event, payload, installation, repository))

    def post(self, app: App, event: str, payload: Mapping[str, Any], *, installation: int, repository: int) -> None:
        """Deliver soon, from another thread: for what happens inside a request, whose sender may be the receiver."""
        letter = self._letter(app, event, payload, installation, repository)
        with self._lock:
            future = self._threads.submit(self._attempt, letter)
            self._pending.add(future)
        future.add_done_callback(self._pending.discard)

    def redeliver(self, app: App, delivery: int) -> Delivery:
        """Send a remembered delivery again, soon: the same guid and bytes, a new id.

        Raises:
            RefusedError: 404 when this app has no such delivery.
        """
        old = self.find(app, delivery)
        again = replace(old, id=next(self._ids), delivered_at=self._now(), redelivery=True, status="", status_code=0)
        with self._lock:
            future = self._threads.submit(self._attempt, again)
            self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return again

    def find(self, app: App, delivery: int) -> Delivery:
        """A delivery of this app. Raises RefusedError 404 when there is none."""
        for found in self.of(app):
            if found.id == delivery:
                return found
        raise not_found()

    def of(self, app: App) -> list[Delivery]:
        """The deliveries of an app, the newest first."""
        with self._lock:
            own = [delivery for delivery in self.deliveries if delivery.app is app]
        # Several are under way at once, and arrive in any order.
        return sorted(own, key=lambda delivery: -delivery.id)

    def wait_idle(self, timeout_s: float = ANSWER_WITHIN_S) -> None:
        """Wait until everything that was posted has been answered. Raises TimeoutError."""
        _, open_ = wait(list(self._pending), timeout_s)
        if open_:
            raise TimeoutError(f"{len(open_)} webhooks were not answered within {timeout_s:.0f} s")

    def close(self) -> None:
        """Send nothing any more."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._client.close()

    def _letter(self, app: App, event: str, payload: Mapping[str, Any], installation: int, repository: int) -> Delivery:
        if not app.webhook_url:
            raise RefusedError(422, f"the app {app.slug} has no webhook address")
        guid, body = str(uuid4()), json.dumps(payload).encode()
        return Delivery(
            id=next(self._ids),
            guid=guid,
            app=app,
            event=event,
            action=payload.get("action"),
            installation_id=installation,
            repository_id=repository,
            body=body,
            headers=_headers(app, event, guid, body),
            delivered_at=self._now(),
        )

    def _attempt(self, letter: Delivery) -> Delivery:
        begun = time.monotonic()
        with self._lock:
            lost, self._lost = self._lost > 0, max(0, self._lost - 1)
        if lost:
            letter.status, letter.status_code = "failed to connect to host", 502
        else:
            self._deliver(letter)
        letter.duration_s = round(time.monotonic() - begun, 2)
        with self._lock:
            self.deliveries.append(letter)
        return letter

    def _deliver(self, letter: Delivery) -> None:
        try:
            answer = self._client.post(letter.app.webhook_url, content=letter.body, headers=letter.headers)
        except httpx.TimeoutException:
            letter.status, letter.status_code = "timed out", 504
        except httpx.HTTPError:
            letter.status, letter.status_code = "failed to connect to host", 502
        else:
            letter.status, letter.status_code = answer.reason_phrase or "OK", answer.status_code
            letter.response_headers = dict(answer.headers)
            letter.response_body = answer.text[:_KEPT_ANSWER]


def _headers(app: App, event: str, guid: str, body: bytes) -> dict[str, str]:
    headers = {
        "Accept": "*/*",
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/devgithub",
        "X-GitHub-Delivery": guid,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-ID": str(app.id),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
    }
    return headers | ({SIGNATURE_HEADER: sign(app.webhook_secret, body)} if app.webhook_secret else {})
