"""`relay audit`: what an audit found, in words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from relay.audit_views import AuditedTest, AuditOutcome, AuditState, AuditView
from relay.cli import audit_text
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn

CAUGHT = AuditedTest(test="a", outcome=AuditOutcome.CAUGHT, asked=0)
MISSED = AuditedTest(test="b", outcome=AuditOutcome.MISSED, asked=1, missed_by=7)


def view(state: AuditState, *tests: AuditedTest) -> AuditView:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    shas = {"base_sha": "b" * 40, "head_sha": "a" * 40}
    return AuditView(id=9, device="spyre", state=state, created_at=at, finished_at=None, tests=tests, **shas)


@pytest.mark.parametrize(
    ("audit", "words"),
    [
        (view(AuditState.RUNNING), "audit 9 of aaaaaaaaaa is running: 0 newly broken, 0 missed by a selection"),
        (view(AuditState.SETTLED), "audit 9 of aaaaaaaaaa is settled: 0 newly broken, 0 missed by a selection"),
        (
            view(AuditState.SETTLED, CAUGHT, MISSED),
            "audit 9 of aaaaaaaaaa is settled: 2 newly broken, 1 missed by a selection (false green 50.0%)",
        ),
        (view(AuditState.CALLED_OFF), "audit 9 of aaaaaaaaaa is called off: 0 newly broken, 0 missed by a selection"),
    ],
)
def test_the_headline_says_what_was_found(audit: AuditView, words: str) -> None:
    assert audit_text.headline(audit) == words


def test_an_audit_is_started_on_a_device(relay: Relay, service: StandIn) -> None:
    assert relay("audit", "start", "--device", "quartz", "--json", "--fields", "device").json == {"device": "quartz"}
    assert relay("audit", "start", "--json", "--fields", "device").json == {"device": "spyre"}


def test_a_rate_needs_a_settled_audit_with_something_broken() -> None:
    assert view(AuditState.CONFIRMING, CAUGHT, MISSED).false_green_rate is None
    assert view(AuditState.SETTLED).false_green_rate is None
    assert view(AuditState.SETTLED, CAUGHT).false_green_rate == 0
