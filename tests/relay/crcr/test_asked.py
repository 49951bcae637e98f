"""What a webhook asks for, by event, action, label and mode."""

from __future__ import annotations

from typing import Any

import pytest

from relay.crcr.asked import Asked, Incoming, asked_by
from relay.settings import RelaySettings
from tests.conformance.payloads import ZERO, labeled, pull_request, push


def asked(settings: RelaySettings, event: str, payload: dict[str, Any]) -> Asked:
    return asked_by(settings, Incoming(event, "d1", b"", payload))[0]


@pytest.mark.parametrize(
    ("event", "payload", "expected"),
    [
        *(
            ("pull_request", pull_request(act), Asked.DISPATCH)
            for act in ("opened", "reopened", "synchronize", "closed")
        ),
        ("pull_request", pull_request("edited"), Asked.NOTHING),
        ("pull_request", pull_request() | {"action": None}, Asked.NOTHING),
        ("pull_request", pull_request() | {"action": ["opened"]}, Asked.NOTHING),
        ("pull_request", labeled("ciflow/crcr/npu"), Asked.LABEL),
        ("pull_request", labeled("ciflow/trunk"), Asked.NOTHING),
        ("pull_request", labeled("x") | {"label": None}, Asked.NOTHING),
        ("push", push(), Asked.DISPATCH),
        ("push", push("refs/heads/other"), Asked.NOTHING),
        ("push", push(after=ZERO), Asked.NOTHING),
        ("check_run", {"action": "rerequested"}, Asked.RERUN),
        ("check_suite", {"action": "rerequested"}, Asked.RERUN),
        ("check_run", {"action": "completed"}, Asked.NOTHING),
        ("issues", {"action": "opened"}, Asked.NOTHING),
    ],
)
def test_each_event_asks_for_its_own(
    settings: RelaySettings, event: str, payload: dict[str, Any], expected: Asked
) -> None:
    assert asked(settings, event, payload) is expected


@pytest.mark.parametrize("payload", [push("refs/heads/other"), push(after=ZERO), {}])
def test_the_original_tells_of_every_push(settings: RelaySettings, payload: dict[str, Any]) -> None:
    strict = settings.model_copy(update={"crcr_strict_compat": True})
    assert asked(strict, "push", payload) is Asked.DISPATCH


def test_a_push_that_is_not_told_says_why(settings: RelaySettings) -> None:
    assert "refs/heads/other" in asked_by(settings, Incoming("push", "d1", b"", push("refs/heads/other")))[1]
