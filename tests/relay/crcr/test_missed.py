"""What never reached us is noticed and made good for once; what is on its way, or not ours, is left alone."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from relay.context import RelayContext
from relay.crcr.missed import sweep
from relay.github.types import GitHubError, HookDelivery, OpenPull
from relay.intake.deliveries import sweep_deliveries
from relay.store.models import Run
from tests.conformance.payloads import S1, S2, pull_request
from tests.relay.crcr.telling import Telling, telling

ALL = ["a/l1", "a/l2", "a/l3", "a/l4"]
NOTHING = {"redelivered": 0, "dispatched": 0}


@pytest.fixture
def story(context: RelayContext) -> Iterator[Telling]:
    """A relay that heard of pull request 7 two hours ago."""
    with telling(context) as made:
        made.receive()
        made.drain()
        made.github.dispatches.clear()
        made.clock.tick(7_200)
        yield made


def lost(story: Telling, number: int = 1, *, status: int = 502, age_s: float = 3_600, **changes: Any) -> None:
    """GitHub remembers a delivery."""
    at = (story.clock() - timedelta(seconds=age_s)).isoformat()
    known: dict[str, Any] = {"id": number, "guid": f"g{number}", "event": "pull_request", "action": "opened"}
    story.github.deliveries.append(HookDelivery(**known | {"status_code": status, "delivered_at": at} | changes))


def gap(story: Telling, number: int = 8, sha: str = S2, *, age_s: float = 3_600, **changes: Any) -> None:
    """GitHub has an open pull request."""
    at = (story.clock() - timedelta(seconds=age_s)).isoformat().replace("+00:00", "Z")
    story.github.pulls.append(OpenPull(number, sha, at))
    story.github.whole_pulls[number] = (
        pull_request(number=number, sha=sha)["pull_request"] | {"state": "open"} | changes
    )


def test_a_delivery_that_was_not_taken_is_sent_again_once(story: Telling) -> None:
    lost(story)
    assert sweep(story.context) == {"redelivered": 1, "dispatched": 0}
    story.drain()
    assert sweep(story.context) == NOTHING
    assert story.github.redelivered == [1]


def test_a_redelivery_that_fails_too_is_asked_for_again_up_to_a_limit(story: Telling) -> None:
    for attempt in range(1, 8):
        lost(story, attempt, guid="same", age_s=5_000 - attempt)
        sweep(story.context)
        story.drain()
    assert story.github.redelivered == [1, 2, 3]


@pytest.mark.parametrize(
    "changes",
    [
        {"status": 200},
        {"status": 202},
        {"age_s": 60},
        {"age_s": 100_000},
        {"action": "edited"},
        {"event": "issues", "action": "opened"},
        {"event": "check_run", "action": "created"},
        {"event": "push", "action": "opened"},
        {"guid": "d1"},
    ],
)
def test_what_was_taken_or_is_young_or_not_acted_on_is_left_alone(story: Telling, changes: dict[str, Any]) -> None:
    lost(story, **changes)
    assert sweep(story.context) == NOTHING


def test_a_delivery_that_was_taken_at_another_attempt_is_left_alone(story: Telling) -> None:
    lost(story, 1, guid="same", age_s=4_000)
    lost(story, 2, guid="same", age_s=3_000, status=200)
    assert sweep(story.context) == NOTHING


@pytest.mark.parametrize(
    ("event", "action"),
    [("push", None), ("check_suite", "rerequested"), ("check_run", "rerequested"), ("pull_request", "labeled")],
)
def test_every_kind_that_is_acted_on_is_missed(story: Telling, event: str, action: str | None) -> None:
    lost(story, event=event, action=action)
    assert sweep(story.context)["redelivered"] == 1


def test_a_head_nobody_was_told_of_is_told_once(story: Telling) -> None:
    gap(story)
    assert sweep(story.context) == {"redelivered": 0, "dispatched": 1}
    assert sweep(story.context) == NOTHING
    story.drain()
    assert story.github.dispatched_to() == ALL
    told = story.github.dispatches[0].client_payload["payload"]
    assert isinstance(told, dict)
    assert (told["action"], told["number"], told["pull_request"]["head"]["sha"]) == ("synchronize", 8, S2)
    assert told["repository"]["full_name"] == told["pull_request"]["base"]["repo"]["full_name"]


def test_it_opens_a_run_of_our_own_too(story: Telling) -> None:
    gap(story)
    sweep(story.context)
    sweep_deliveries(story.context)
    with story.context.store.reading() as session:
        assert 8 in session.scalars(select(Run.pr_number)).all()


def test_several_relays_that_look_at_once_tell_once(story: Telling) -> None:
    gap(story)
    story.github.pulls *= 2
    sweep(story.context)
    story.drain()
    assert Counter(sent.repo for sent in story.github.dispatches) == dict.fromkeys(ALL, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 7, "sha": S1},
        {"age_s": 60},
        {"age_s": 100_000},
        {"state": "closed"},
        {"head": {"sha": S1}},
        {"head": None},
        {"base": None},
    ],
)
def test_a_head_that_was_told_or_is_young_or_gone_is_left_alone(story: Telling, changes: dict[str, Any]) -> None:
    gap(story, **changes)
    assert sweep(story.context) == NOTHING
    assert story.drain() == 0


def test_nobody_is_told_while_a_redelivery_may_tell(story: Telling) -> None:
    gap(story)
    lost(story)
    assert sweep(story.context) == {"redelivered": 1, "dispatched": 0}
    story.drain()
    assert sweep(story.context) == NOTHING
    story.clock.tick(1_000)
    assert sweep(story.context) == {"redelivered": 0, "dispatched": 1}


def test_nobody_is_told_while_a_webhook_waits_for_an_allowlist(story: Telling) -> None:
    good, story.allowlist.text = story.allowlist.text, None
    story.receive(payload=pull_request(number=8, sha=S2), delivery="d2")
    story.allowlist.text = good
    gap(story)
    assert sweep(story.context) == NOTHING
    story.drain(10)
    assert sweep(story.context) == NOTHING
    assert Counter(sent.repo for sent in story.github.dispatches) == dict.fromkeys(ALL, 1)


def test_a_few_are_told_in_one_pass_and_the_others_in_the_next(story: Telling) -> None:
    for number in range(100, 160):
        gap(story, number, sha=f"{number:040}")
    assert [sweep(story.context)["dispatched"] for _ in range(3)] == [50, 10, 0]


def test_a_relay_that_heard_nothing_yet_missed_nothing(context: RelayContext) -> None:
    with telling(context) as fresh:
        lost(fresh)
        gap(fresh)
        assert sweep(fresh.context) == NOTHING
        assert fresh.github.calls == []


@pytest.mark.parametrize("list_", ["", "L2:\n  - a/l2: {events: [nightly]}\n", None])
def test_without_anybody_to_tell_nothing_is_told(story: Telling, list_: str | None) -> None:
    story.allowlist.text = list_
    gap(story)
    assert sweep(story.context) == NOTHING


def test_the_original_does_not_look(story: Telling) -> None:
    story.set(crcr_strict_compat=True)
    lost(story)
    gap(story)
    assert sweep(story.context) == NOTHING


@pytest.mark.parametrize("method", ["hook_deliveries", "open_pulls", "pull"])
def test_a_github_that_does_not_answer_is_asked_at_the_next_pass(story: Telling, method: str) -> None:
    gap(story)
    story.github.fail(method, GitHubError("away", status=503))
    assert sweep(story.context) == NOTHING
    assert sweep(story.context)["dispatched"] == 1


def test_a_pass_that_is_to_stop_tells_no_more(story: Telling) -> None:
    """At the end of its process; the next pass tells the others."""
    for number in (8, 9, 10):
        gap(story, number, sha=f"{number:x}" * 40)
    left = iter((False, False))
    assert sweep(story.context, lambda: next(left, True))["dispatched"] == 1
    assert sweep(story.context)["dispatched"] == 2


def test_an_odd_pull_request_is_no_reason_to_stop(story: Telling) -> None:
    gap(story, 10, sha="4" * 40)
    del story.github.whole_pulls[10]
    gap(story, 8)
    story.github.whole_pulls[8] = {"head": [], "base": copy.deepcopy(story.github.whole_pulls[8]["base"])}
    gap(story, 9, sha="3" * 40)
    assert sweep(story.context)["dispatched"] == 1
