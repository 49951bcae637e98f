"""Relays that do the same work for a webhook: ours, and two that tell backends before they answer, with a thread for
each as the original does, or one after the other.

All judge the signature, keep the delivery and a dispatch for each backend in SQLite, and call the same GitHub, which
takes its time for every call. `python -m tests.benchmarks.webhook_sides SIDE FOLDER CALLS` serves one on a free port,
which it prints, until its standard input ends.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import cached_property, partial
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from pydantic import SecretStr
from starlette.concurrency import run_in_threadpool

from relay.allowlist.types import Allowlist, Participation
from relay.app import create_app, create_context
from relay.background import background
from relay.cli.foreground import log_to_stderr, started, watching_signals
from relay.context import RelayContext
from relay.intake.deliveries import record_delivery
from relay.intake.events import names_repository
from relay.intake.signature import check_signature
from relay.machine.background_process import background_process, given_settings, hear
from relay.machine.listening import listen
from relay.machine.web_thread import web_thread
from relay.parts import CrcrParts, LoadedAllowlist, TokenRefusedError, VerifiedClaims
from relay.settings import RelaySettings
from relay.store.clock import utc_now
from relay.store.crcr_models import Dispatch, DispatchState
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conformance.github_stand_in import GitHubStandIn

SECRET = "webhook-secret-of-the-benchmark"
UPSTREAM = "pytorch/pytorch"
TARGETS = tuple(f"vendor{number}/backend" for number in range(20))
SIDES = ("ours", "threads", "one by one")
BACKGROUND = "background"
CALL_S = 0.2


class SlowGitHub(GitHubStandIn):
    """Takes `call_s` seconds for a call. A dispatch costs `calls`: one with a token at hand, two when it is minted for
    each dispatch, as the original does."""

    def __init__(self, calls: int, call_s: float = CALL_S) -> None:
        super().__init__()
        self._seconds = calls * call_s
        self._lock = threading.Lock()

    def dispatch(self, repo: str, event_type: str, client_payload: Mapping[str, object]) -> None:
        time.sleep(self._seconds)
        with self._lock:
            super().dispatch(repo, event_type, client_payload)


class AllowlistAtHand(AllowlistStandIn):
    """Read once, as both keep it for a quarter of an hour."""

    @cached_property
    def _loaded(self) -> LoadedAllowlist:
        return super().current()

    def current(self) -> LoadedAllowlist:
        return self._loaded


class _NoVerifier:
    """Nobody calls back."""

    def verify(self, authorization: str | None) -> VerifiedClaims:
        raise TokenRefusedError("nobody calls back in this benchmark")

    def close(self) -> None:
        """Nothing is open."""


def settings_in(folder: Path) -> RelaySettings:
    """The same settings for both. There are no workers here: a sweep would wake them in vain, ever more of them."""
    return RelaySettings(
        state_dir=folder / "state",
        manifest_dir=folder,
        webhook_secret=SecretStr(SECRET),
        upstream_repo=UPSTREAM,
        sweep_seconds=600.0,
    )


def our_side(folder: Path, github: SlowGitHub) -> FastAPI:
    """The product, whole: with its own runs. Its outbox and its sweep are in a process of their own, as in `relay up`
    and `relay serve`: `BACKGROUND`."""
    return create_app(settings_in(folder), crcr=_parts(github), answers_only=True)


def synchronous_side(folder: Path, github: SlowGitHub, at_once: int) -> FastAPI:
    """The same work inside the request, for so many backends at once."""
    context = create_context(settings_in(folder), crcr=_parts(github))
    app = FastAPI()

    @app.post("/github/webhook")
    async def receive(request: Request) -> JSONResponse:
        body = await request.body()
        headers = request.headers
        signature, event = headers.get("X-Hub-Signature-256"), headers["X-GitHub-Event"]
        told = partial(_tell, delivery_id=headers["X-GitHub-Delivery"], at_once=at_once)
        return await run_in_threadpool(told, context, github, body, signature, event)

    return app


def _tell(
    context: RelayContext,
    github: SlowGitHub,
    body: bytes,
    signature: str | None,
    event: str,
    *,
    delivery_id: str,
    at_once: int,
) -> JSONResponse:
    check_signature(SECRET, body, signature)
    payload = json.loads(body)
    if context.crcr is None or not names_repository(payload, UPSTREAM):
        return JSONResponse({"ignored": True})
    allowlist = context.crcr.allowlist.current().allowlist
    envelope = {"event_type": event, "delivery_id": delivery_id, "payload": payload}
    backends = [backend.repo for backend in allowlist.taking_part_in(Participation.PULL_REQUEST)]
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda repo: github.dispatch(repo, event, envelope), backends))
    _keep(context, allowlist, event, delivery_id, body)
    return JSONResponse({"ok": True, "dispatched": [{"repo": repo} for repo in backends], "failed": []})


def _keep(context: RelayContext, allowlist: Allowlist, event: str, delivery_id: str, body: bytes) -> None:
    now = context.now()
    with context.store.writing() as session:
        record_delivery(session, delivery_id, event, body, now)
        for backend in allowlist.backends:
            session.add(
                Dispatch(
                    delivery_id=delivery_id,
                    repo=backend.repo,
                    repo_key=backend.key,
                    level=backend.level.name,
                    event_type=event,
                    upstream_repo=UPSTREAM,
                    nonce="",
                    state=DispatchState.DISPATCHED,
                    queued_at=now,
                    dispatched_at=now,
                )
            )


def _parts(github: SlowGitHub) -> CrcrParts:
    listed = "L1:\n" + "".join(f"  - {repo}\n" for repo in TARGETS)
    return CrcrParts(AllowlistAtHand(utc_now, text=listed), _NoVerifier(), github)


def sides() -> Mapping[str, Callable[[Path, SlowGitHub], FastAPI]]:
    """How each side is made, in the order of `SIDES`."""
    return {
        "ours": our_side,
        "threads": partial(synchronous_side, at_once=len(TARGETS)),
        "one by one": partial(synchronous_side, at_once=1),
    }


def main() -> int:
    """Serve one side."""
    side, folder, calls = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    log_to_stderr()
    if side == BACKGROUND:
        return _deliver(calls)
    with ExitStack() as stack:
        app = sides()[side](folder, SlowGitHub(calls))
        if side == SIDES[0]:
            command = (sys.executable, "-m", "tests.benchmarks.webhook_sides", BACKGROUND, str(folder), str(calls))
            stack.enter_context(background_process(settings_in(folder), None, command))
        listener = stack.enter_context(listen("127.0.0.1", 0))
        stack.enter_context(web_thread(app, listener, drain_s=1))
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        started()
        sys.stdin.read()
    return 0


def _deliver(calls: int) -> int:
    """Our background, told as the product's is."""
    context = create_context(given_settings(), crcr=_parts(SlowGitHub(calls)))
    with watching_signals() as stop, background(context):
        hear(int(sys.argv[sys.argv.index("--rings") + 1]))
        started()
        stop.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
