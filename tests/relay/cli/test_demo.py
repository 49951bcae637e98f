"""What `relay demo` needs of its service; the whole of it is shown by tests/e2e."""

from __future__ import annotations

import pytest

from relay.cli.demo import client_of
from relay.client import ApiClient, Unauthorized
from relay.machine.embedded import EmbeddedService
from relay.settings import RelaySettings
from tests.relay.cli.conftest import Relay


def test_a_demo_reads_a_service_that_wants_a_token_for_that(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its own one, made at the start; without it nothing is told."""
    monkeypatch.delenv("RELAY_OPERATOR_TOKEN")
    with EmbeddedService(RelaySettings(read_access="token"), port=0, workers=0) as service:
        with client_of(service) as client:
            assert client.runs().runs == ()
        with ApiClient(service.url) as stranger, pytest.raises(Unauthorized):
            stranger.runs()
        assert relay("run", "list").err == "no runs match\n"
