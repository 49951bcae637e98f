"""Forwarding to an external HUD: the envelope, which answers are final, and the strict mode's way."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import httpx
import pytest
from pydantic import SecretStr

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.callback import CallbackRefusedError
from relay.crcr.hud_forward import HudSender, envelope, forward_now, job_envelope, queue
from relay.outbox.types import Ending, Letter, Postponed, Sent, Undeliverable
from relay.settings import RelaySettings
from relay.store.crcr_models import OutboxKind
from tests.conformance.payloads import callback
from tests.relay.crcr.stage import Stage, a_job, completed, staged

POSTED = envelope("a/l2", "L2", callback())
LETTER = Letter(1, OutboxKind.HUD, "k", "https://hud.example/api/crcr/results", 1, POSTED)


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record, with an external HUD in its settings."""
    with staged(context) as made:
        made.set(hud_url="https://hud.example/api", hud_key=SecretStr("the-key"), hud_max_retries=2)
        yield made


class Answers:
    """A HUD that answers by statuses, 0 for a connection that breaks; it keeps what it was asked."""

    def __init__(self, *statuses: int, headers: dict[str, str] | None = None, text: str = "because") -> None:
        self.statuses = list(statuses)
        self.headers = headers
        self.text = text
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        status = self.statuses.pop(0) if len(self.statuses) > 1 else self.statuses[0]
        if status == 0:
            raise httpx.ConnectError("refused", request=request)
        return httpx.Response(status, headers=self.headers, text=self.text)

    @property
    def transport(self) -> httpx.MockTransport:
        """The way to it."""
        return httpx.MockTransport(self)


def test_a_start_tells_how_long_it_was_waited_for(stage: Stage) -> None:
    """Our own word stands apart from the backend's, which is passed on as it came."""
    job = a_job(stage.clock(), queue_time=12.34567)
    assert job_envelope(job, "L4", job.callback) == {
        "trusted": {
            "verified_repo": "a/l4",
            "downstream_repo_level": "L4",
            "ci_metrics": {"queue_time": 12.346, "execution_time": None},
        },
        "untrusted": {"callback_payload": callback()},
    }


def test_an_end_tells_how_long_it_took(stage: Stage) -> None:
    """And nothing of the wait any more; a clock that went back makes it nothing."""
    job = completed(stage.clock(), queue_time=30.0, execution_time=-4.0)
    told = job_envelope(job, "L4", job.callback, assumed="no report")["trusted"]
    assert told["ci_metrics"] == {"queue_time": None, "execution_time": 0.0}
    assert told["assumed"] == "no report"


def test_the_request_is_as_the_hud_knows_it(stage: Stage) -> None:
    """Method, address, key header, JSON."""
    hud = Answers(200)
    assert HudSender(stage.context.settings, hud.transport).send(LETTER) == Sent()
    (request,) = hud.requests
    assert (request.method, str(request.url)) == ("POST", LETTER.target)
    assert (request.headers["x-hud-internal-bot"], request.headers["content-type"]) == ("the-key", "application/json")


def test_half_a_character_arrives_as_it_came(stage: Stage) -> None:
    """JSON may hold one, and UTF-8 may not."""
    hud = Answers(200)
    told = envelope("a/l2", "L2", callback(note="half \ud83d"))
    assert HudSender(stage.context.settings, hud.transport).send(replace(LETTER, body=told)) == Sent()
    assert json.loads(hud.requests[0].content) == told


def test_without_a_key_none_is_sent(stage: Stage) -> None:
    """Not even an empty one."""
    stage.set(hud_key=None)
    hud = Answers(200)
    HudSender(stage.context.settings, hud.transport).send(LETTER)
    assert "x-hud-internal-bot" not in hud.requests[0].headers


@pytest.mark.parametrize(
    ("status", "ending"),
    [
        *((200, Sent), (201, Sent), (204, Sent), (400, Undeliverable), (413, Undeliverable), (422, Undeliverable)),
        *((401, Postponed), (403, Postponed), (404, Postponed), (408, Postponed), (429, Postponed)),
        *((500, Postponed), (502, Postponed), (503, Postponed), (302, Postponed), (0, Postponed)),
    ],
)
def test_only_what_is_refused_for_its_content_is_parked(stage: Stage, status: int, ending: type[Ending]) -> None:
    """A wrong key or address is ours to mend, and a moment passes: both are tried again."""
    assert isinstance(HudSender(stage.context.settings, Answers(status).transport).send(LETTER), ending)


@pytest.mark.parametrize(("header", "seconds"), [("90", 90.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("1e9", None)])
def test_the_time_that_the_hud_names_is_kept(stage: Stage, header: str, seconds: float | None) -> None:
    """In seconds; anything else is left to our own pace."""
    hud = Answers(429, headers={"Retry-After": header})
    ending = HudSender(stage.context.settings, hud.transport).send(LETTER)
    assert ending == Postponed("The HUD answered 429: because", 429, seconds)


@pytest.mark.parametrize(("text", "said"), [("x" * 9_000, "x" * 500), ("", "Bad Request")])
def test_what_the_hud_says_is_kept_short(stage: Stage, text: str, said: str) -> None:
    """Or told in the standard words."""
    ending = HudSender(stage.context.settings, Answers(400, text=text).transport).send(LETTER)
    assert ending == Undeliverable(f"The HUD answered 400: {said}", 400)


def test_an_envelope_is_queued_once_and_only_for_a_hud(stage: Stage) -> None:
    """Whatever is queued again is the same decision."""
    job = stage.add()
    for url in ("", "https://hud.example/api", "https://hud.example/api"):
        stage.set(hud_url=url)
        with stage.context.store.writing() as session:
            queue(session, stage.context.settings, "x", POSTED, now=stage.clock(), job_id=job.id)
    (row,) = stage.queued(OutboxKind.HUD)
    assert (row.target, row.body) == (LETTER.target, POSTED)


Forward = Callable[[Answers], Sequence[float]]


@pytest.fixture
def forward(stage: Stage) -> Forward:
    """Forwards at once; the pauses that it makes."""

    def run(hud: Answers) -> Sequence[float]:
        pauses: list[float] = []
        forward_now(stage.context.settings, POSTED, pause=pauses.append, transport=hud.transport)
        return pauses

    return run


@pytest.mark.parametrize(("statuses", "pauses"), [((200,), []), ((500, 200), [1.0]), ((0, 500, 200), [1.0, 2.0])])
def test_a_failure_is_tried_again_after_ever_longer_pauses(
    forward: Forward, statuses: tuple[int, ...], pauses: list[float]
) -> None:
    """Until it is taken."""
    assert forward(Answers(*statuses)) == pauses


@pytest.mark.parametrize("status", [400, 401, 422, 429])
def test_a_refusal_is_the_callers_at_once(forward: Forward, status: int) -> None:
    """The original passes it on, its own key's included."""
    hud = Answers(status)
    with pytest.raises(CallbackRefusedError) as refused:
        forward(hud)
    assert (refused.value.status, refused.value.detail) == (status, f"HUD rejected callback: HTTP {status}: because")
    assert len(hud.requests) == 1


@pytest.mark.parametrize(("rate", "seconds"), [(100, 1), (20, 3)])
def test_a_hud_that_fails_for_good_is_an_error_of_ours(stage: Stage, forward: Forward, rate: int, seconds: int) -> None:
    """With the time after which a caller may come again by its rate limit."""
    stage.set(crcr_rate_per_min=rate)
    hud = Answers(503)
    with pytest.raises(CallbackRefusedError, match=f"retry after {seconds} seconds") as refused:
        forward(hud)
    assert (refused.value.status, len(hud.requests)) == (500, 3)


def test_a_hud_that_is_not_there_is_an_internal_error(forward: Forward) -> None:
    """The original has no better words for it."""
    hud = Answers(0)
    with pytest.raises(CallbackRefusedError, match="Internal server error") as refused:
        forward(hud)
    assert (refused.value.status, len(hud.requests)) == (500, 3)


def test_without_a_hud_nothing_is_forwarded(settings: RelaySettings) -> None:
    """And nothing is wrong with that."""
    hud = Answers(500)
    forward_now(settings, POSTED, transport=hud.transport)
    assert hud.requests == []


def test_the_level_is_of_now(stage: Stage) -> None:
    """Not the one the job was first reported under."""
    job = a_job(stage.clock(), level=Level.L2)
    assert job_envelope(job, Level.L3.name, job.callback)["trusted"]["downstream_repo_level"] == "L3"
