"""Whatever stands in any place of a webhook, the parts that read it take it or leave it, and never fail."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from relay.context import RelayContext
from relay.crcr.asked import Asked, Incoming, asked_by
from relay.crcr.labels import handle_label
from relay.crcr.reruns import handle_rerequest
from relay.crcr.supersede import supersede
from tests.conformance.payloads import labeled, pull_request, push
from tests.relay.crcr.stage import Stage, staged

pytestmark = pytest.mark.both_setups

ODD: tuple[Any, ...] = (
    *(None, True, 0, -1, 2**31, 10**30, 1.5, "", "x" * 5_000, "\ud83d", "\x00", "9" * 5_000),
    *([], {}, [1], [{}], {"name": None}, {"sha": 1}, {"id": "1"}),
)


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a job in it, so that there is something to find."""
    with staged(context) as made:
        made.add()
        yield made


def places(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The way to everything in an object, three levels deep."""
    if path:
        yield path
    if isinstance(value, dict) and len(path) < 3:
        for key, inner in value.items():
            yield from places(inner, (*path, key))


def odd_ones(payload: dict[str, Any], *within: str) -> Iterator[dict[str, Any]]:
    """The payload with something odd in each place of the parts that are read."""
    for path in places({key: payload[key] for key in within}):
        for odd in ODD:
            changed = copy.deepcopy(payload)
            holder = changed
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = odd
            yield changed


def slim(payload: dict[str, Any]) -> dict[str, Any]:
    """A pull request's payload with what is read of it, and little else."""
    pull = payload["pull_request"]
    kept = {"number": 7, "state": "open", "head": {"sha": pull["head"]["sha"]}, "labels": pull["labels"]}
    return payload | {"pull_request": kept, "repository": {"full_name": "pytorch/pytorch"}}


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("event", ["pull_request", "push", "check_run", "check_suite"])
def test_what_is_asked_for(stage: Stage, event: str, strict: bool) -> None:
    """Each asks for something or nothing."""
    stage.set(crcr_strict_compat=strict)
    payload = push() if event == "push" else slim(labeled("ciflow/crcr/npu"))
    for odd in odd_ones(payload, *(key for key in payload if key not in ("repository", "sender", "commits"))):
        asked, reason = asked_by(stage.context.settings, Incoming(event, "d1", b"", odd))
        assert asked is Asked.NOTHING or not reason


def test_labels(stage: Stage) -> None:
    """Each is answered."""
    allowlist = stage.allowlist.current().allowlist
    with stage.context.store.writing() as session:
        for payload in odd_ones(slim(labeled("ciflow/crcr/npu")), "label", "pull_request", "repository", "number"):
            answer = handle_label(session, stage.context.settings, allowlist, payload, stage.clock())
            assert answer.get("ok") or answer["ignored"]


@pytest.mark.parametrize("action", ["synchronize", "closed"])
def test_supersession(stage: Stage, action: str) -> None:
    """Each marks jobs or none."""
    with stage.context.store.writing() as session:
        for payload in odd_ones(slim(pull_request(action)), "action", "pull_request", "number"):
            supersede(session, stage.context.settings, payload, stage.clock())


@pytest.mark.parametrize("event", ["check_run", "check_suite"])
def test_reruns(stage: Stage, event: str) -> None:
    """Each is answered; what could be started is started for one run that there is."""
    payload: dict[str, Any] = {"action": "rerequested", "check_suite": {"id": 9}}
    payload["check_run"] = {"name": "crcr/a/l3/CI/build", "external_id": "55:7"}
    for odd in odd_ones(payload, "action", event):
        answer = handle_rerequest(stage.context, stage.parts, event, "r1", odd)
        assert answer.get("ok") or answer["ignored"]
    assert {run for _, run, _ in stage.github.reruns} <= {55}
