"""Who may report, and how often (AC)."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from relay.settings import RelaySettings
from relay.store.crcr_models import Dispatch, RateBucket
from tests.conformance.allowlist_stand_in import FIXTURE
from tests.conformance.answering import answer, dispatched, jobs, lose, nothing_happened, report
from tests.conformance.payloads import callback
from tests.conformance.world import World

LIMIT = 100
#: Texts that no database compares with.
JUNK = tuple({"delivery_id": text} for text in ("a\0b", "\ud800", "x" * 100_000))


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """The limit that the rows speak of is the default."""
    assert conformance_settings.crcr_rate_per_min == LIMIT
    return conformance_settings


def exhaust(world: World, repo: str = "a/l2") -> None:
    """Make as many calls as a minute has."""
    assert {world.callback({}, repo=repo).status_code for _ in range(LIMIT)} == {400}


@pytest.mark.row("AC01")
def test_who_is_not_listed_is_ignored(world: World) -> None:
    """The answer looks like success to the original's reporter, and says elsewhere that it is none."""
    for junk in JUNK:
        assert world.callback(junk, repo="stranger/repo").status_code == 200
    answered = world.callback(callback(), repo="stranger/repo")
    assert answered.status_code == 200
    assert answered.json().items() >= {"ok": True, "status": "ignored"}.items()
    assert "stranger/repo" in answered.json()["reason"]
    assert answered.headers["X-Relay-Ignored"] == "unlisted"
    assert nothing_happened(world)


@pytest.mark.row("AC02")
@pytest.mark.parametrize("body", [callback(), [], None, {}, {"delivery_id": [1]}, {"workflow": 5}, *JUNK])
def test_who_is_only_told_is_ignored_whatever_it_says(world: World, body: object) -> None:
    """Its body is not judged."""
    dispatched(world)
    answered = world.callback(body, repo="a/l1")
    assert answered.status_code == 200
    assert answered.json().items() >= {"ok": True, "status": "ignored"}.items()
    assert answered.headers["X-Relay-Ignored"] == "level L1"
    assert nothing_happened(world)


@pytest.mark.row("AC03")
def test_letter_case_makes_no_other_repository(world: World) -> None:
    """The list's way of writing is the one that is kept."""
    dispatched(world)
    assert world.callback(answer(world), repo="A/L2").json() == {"ok": True, "status": "in_progress"}
    assert [job.repo for job in jobs(world)] == ["a/l2"]


@pytest.mark.row("AC04")
def test_over_the_limit_a_backend_is_told_when_to_come_again(world: World) -> None:
    """And nothing of its report is kept."""
    dispatched(world)
    exhaust(world)
    answered = world.callback(answer(world))
    assert answered.status_code == 429
    assert "a/l2" in answered.json()["detail"]
    assert nothing_happened(world)
    world.clock.tick(int(answered.headers["Retry-After"]))
    assert world.callback(answer(world)).status_code == 200


@pytest.mark.row("AC05")
def test_below_the_limit_a_backend_is_heard(world: World) -> None:
    """Up to the last call."""
    dispatched(world)
    for _ in range(LIMIT - 1):
        world.callback({})
    assert report(world).status_code == 200


@pytest.mark.row("AC06")
def test_without_its_count_nobody_is_let_in(world: World) -> None:
    """It is our fault, so it may be tried again."""
    dispatched(world)
    lose(world, "rate_buckets")
    answered = world.callback(answer(world))
    assert answered.status_code == 503
    assert "rate limit check failed" in answered.json()["detail"]
    assert int(answered.headers["Retry-After"]) > 0
    assert nothing_happened(world)


@pytest.mark.row("AC07")
def test_a_backends_limit_is_its_own(world: World) -> None:
    """The call after a minute's worth is refused; another backend is heard."""
    dispatched(world)
    exhaust(world)
    assert world.callback(answer(world)).status_code == 429
    assert report(world, repo="a/l4").status_code == 200


@pytest.mark.row("AC08")
def test_refused_calls_count_in_the_original_only(world: World) -> None:
    """Who keeps trying twice a second is let in by us as soon as there is room again."""
    exhaust(world)
    tries = []
    for _ in range(122):
        world.clock.tick(0.5)
        tries.append(world.callback({}).status_code)
    if world.strict:
        assert set(tries) == {429}
    else:
        assert tries.count(400) == int(122 * 0.5 * LIMIT / 60)


@pytest.mark.row("AC08")
def test_only_our_refusal_says_when_to_come_again(world: World) -> None:
    """The original has no such header."""
    exhaust(world)
    refused = world.callback({})
    assert refused.status_code == 429
    assert ("Retry-After" in refused.headers) is not world.strict


@pytest.mark.row("AC08")
def test_a_strangers_flood_ends_before_the_record(world: World) -> None:
    """Calls without a token are bounded by their address, in ours; the original bounds none of them."""
    statuses = [world.callback(b"{}", token="").status_code for _ in range(10 * LIMIT + 1)]
    assert set(statuses[:-1]) == {401}
    assert statuses[-1] == (401 if world.strict else 429)
    with world.session() as session:
        assert session.scalars(select(RateBucket)).all() == []


@pytest.mark.row("AC09")
def test_a_backend_that_was_removed_meanwhile_is_ignored_and_that_is_noted(world: World) -> None:
    """Where operators look at what became of a dispatch."""
    dispatched(world)
    world.allowlist.text = FIXTURE.replace("a/l2", "a/other")
    answered = world.callback(answer(world))
    assert answered.status_code == 200
    assert answered.json()["status"] == "ignored"
    assert nothing_happened(world)
    with world.session() as session:
        reasons = {sent.repo: sent.reason for sent in session.scalars(select(Dispatch))}
    assert "allowlist" in reasons.pop("a/l2")
    assert set(reasons.values()) == {""}
