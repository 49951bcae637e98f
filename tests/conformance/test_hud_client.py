"""Forwarding results to an external HUD (HF). Ours is asynchronous; what the original does at once, the strict mode's
forwarding shows against the same HUD."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from relay.crcr.callback import CallbackRefusedError
from relay.crcr.hud_forward import envelope, forward_now
from relay.settings import RelaySettings
from relay.store.crcr_models import OutboxKind, OutboxState
from tests.conformance.answering import answer, dispatched, report, results
from tests.conformance.hud_stand_in import KEY
from tests.conformance.payloads import callback
from tests.conformance.waiting import letters
from tests.conformance.world import World

POSTED = envelope("a/l2", "L2", callback(), queue_time=30.0)


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """Two retries."""
    return conformance_settings.model_copy(update={"hud_max_retries": 2})


def forward(world: World) -> Sequence[float]:
    """Forward at once; the pauses that were made."""
    pauses: list[float] = []
    forward_now(world.context.settings, POSTED, pause=pauses.append)
    return pauses


def refusal(world: World) -> tuple[CallbackRefusedError, Sequence[float]]:
    """How forwarding at once ends badly, and the pauses before it did."""
    pauses: list[float] = []
    with pytest.raises(CallbackRefusedError) as refused:
        forward_now(world.context.settings, POSTED, pause=pauses.append)
    return refused.value, pauses


def queued(world: World) -> list[OutboxState]:
    """Where the envelopes stand."""
    with world.session() as session:
        return [item.state for item in letters(session, OutboxKind.HUD)]


class TestWithoutAHud:
    """A relay that forwards to nobody."""

    @pytest.fixture
    def conformance_settings(self, conformance_settings: RelaySettings) -> RelaySettings:
        """No address."""
        return conformance_settings.model_copy(update={"hud_url": ""})

    @pytest.mark.row("HF01")
    def test_nothing_is_forwarded_and_nothing_is_wrong(self, world: World) -> None:
        """The callback is accepted as ever, and the result is in our own record."""
        dispatched(world)
        answered = report(world)
        assert (answered.status_code, answered.json()["status"]) == (200, "in_progress")
        assert (queued(world), world.hud.tries, len(results(world))) == ([], [], 1)
        assert forward(world) == []


@pytest.mark.row("HF02")
def test_the_body_keeps_apart_what_we_know_and_what_we_were_told(world: World) -> None:
    """Metrics and repository are ours; the callback is the backend's, unchanged."""
    dispatched(world)
    world.clock.tick(30)
    report(world)
    (post,) = world.hud.posts
    assert post == {
        "trusted": {
            "verified_repo": "a/l2",
            "downstream_repo_level": "L2",
            "ci_metrics": {"queue_time": 30.0, "execution_time": None},
        },
        "untrusted": {"callback_payload": answer(world)},
    }


@pytest.mark.row("HF03")
def test_the_key_goes_under_the_name_that_the_hud_reads(world: World) -> None:
    """Asynchronously and at once alike."""
    dispatched(world)
    report(world)
    forward(world)
    assert [headers["x-hud-internal-bot"] for headers in world.hud.headers] == [KEY, KEY]
    assert {headers["content-type"] for headers in world.hud.headers} == {"application/json"}


@pytest.mark.row("HF04")
def test_a_refusal_is_final(world: World) -> None:
    """After one try: the original hands it on, ours parks it, for the backend has nothing to do with it."""
    dispatched(world)
    world.hud.always = 422
    assert report(world).status_code == 200
    assert (len(world.hud.tries), queued(world)) == (1, [OutboxState.DEAD])
    refused, pauses = refusal(world)
    assert (refused.status, pauses, len(world.hud.tries)) == (422, [], 2)
    assert str(refused.detail).startswith("HUD rejected callback: HTTP 422")


@pytest.mark.row("HF05")
def test_a_hud_that_always_fails_is_given_up(world: World) -> None:
    """By the original after all its tries, with an error for the backend; ours goes on and says nothing."""
    world.hud.always = 500
    refused, pauses = refusal(world)
    assert (refused.status, pauses, len(world.hud.tries)) == (500, [1.0, 2.0], 3)
    assert "retry after 1 seconds" in str(refused.detail)
    dispatched(world)
    assert report(world).status_code == 200
    assert queued(world) == [OutboxState.DUE]


@pytest.mark.row("HF06")
def test_a_hud_that_is_not_there_is_no_matter_of_the_backends(world: World) -> None:
    """The original ends as an internal error; ours keeps the result until the HUD is there."""
    world.hud.always = 0
    refused, pauses = refusal(world)
    assert (refused.status, refused.detail, len(pauses)) == (500, "Internal server error", 2)
    dispatched(world)
    assert report(world).status_code == 200
    assert (queued(world), world.hud.posts) == ([OutboxState.DUE], [])
    world.hud.always = 200
    world.clock.tick(3_600)
    world.drain()
    assert (queued(world), len(world.hud.posts)) == ([OutboxState.SENT], 1)


@pytest.mark.row("HF07")
def test_a_hud_that_fails_once_takes_the_second(world: World) -> None:
    """After one pause."""
    world.hud.answers.append(500)
    assert forward(world) == [1.0]
    assert len(world.hud.posts) == 1
    dispatched(world)
    world.hud.answers.append(500)
    report(world)
    world.clock.tick(3_600)
    world.drain()
    assert (len(world.hud.posts), queued(world)) == (2, [OutboxState.SENT])


@pytest.mark.row("HF08")
@pytest.mark.parametrize("status", [401, 403, 429])
def test_trouble_between_relay_and_hud_stays_there(world: World, status: int) -> None:
    """The backend did nothing wrong; a key that is set right later still gets everything through, in order."""
    dispatched(world)
    world.hud.always = status
    for said in ("in_progress", "completed"):
        assert report(world, said).status_code == 200
    assert (queued(world), world.hud.posts) == ([OutboxState.DUE] * 2, [])
    world.hud.always = 200
    world.clock.tick(3_600)
    world.drain()
    told = [post["untrusted"]["callback_payload"]["workflow"]["status"] for post in world.hud.posts]
    assert told == ["in_progress", "completed"]
