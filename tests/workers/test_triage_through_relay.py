"""Worker, relay and model over real sockets: tools work in either interface, and the key stays on the relay's side."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest

from relay.contract import TriageSettings
from relay.settings import RelaySettings
from tests.conftest import WORKER_TOKEN, OpenApp
from tests.relay.serving import serving
from tests.selector.triage.example import judge, verdicts
from tests.selector.triage.model_server import Heard, ModelServer, Says
from workers.triage_client import triage_client

PROVIDERS = ("openai", "anthropic")
RelayBefore = Callable[[str, str], AbstractContextManager[str]]


def looks_first(heard: Heard) -> Says:
    if heard.may_call and not heard.results:
        return Says("", (("read_file", {"path": "torch/x.py"}), ("diff_hunk", {"file": "f1"})))
    return Says(verdicts("run", "t1", "t2", "t3", "t4", evidence=["call00001"] if heard.results else ["f1"]))


@pytest.fixture
def relay_before(settings: RelaySettings, open_app: OpenApp) -> RelayBefore:
    """Serves a relay that asks a provider's model at an address."""

    def served(model_url: str, provider: str) -> AbstractContextManager[str]:
        llm = {"llm_base_url": model_url, "llm_model": "chosen", "llm_api_key": "k-secret", "llm_provider": provider}
        return serving(open_app(RelaySettings.model_validate({**settings.model_dump(), **llm})))

    return served


def order(provider: str) -> TriageSettings:
    return TriageSettings.model_validate({"model": "wished", "timeout_s": 20.0, "provider": provider})


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_with_tools_is_asked_through_the_relay(relay_before: RelayBefore, provider: str) -> None:
    server = ModelServer(looks_first)
    with server.serving() as model_url, relay_before(model_url, provider) as url:
        result = judge(triage_client(order(provider), url, WORKER_TOKEN, None))
    assert result.notes == ("the model looked up 2 things in 1 rounds",)
    assert result.kept[-1].reasons[-1].evidence == "says run [read_file call00001]"
    assert {body["model"] for body in server.bodies} == {"chosen"}
    shown = [headers.get("x-api-key") or headers.get("authorization") for headers in server.headers]
    assert set(shown) == {"k-secret" if provider == "anthropic" else "Bearer k-secret"}
    assert WORKER_TOKEN not in str(server.headers)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_without_tools_is_asked_once_through_the_relay(relay_before: RelayBefore, provider: str) -> None:
    server = ModelServer(looks_first, takes_tools=False)
    with server.serving() as model_url, relay_before(model_url, provider) as url:
        result = judge(triage_client(order(provider), url, WORKER_TOKEN, None))
    assert result.notes == ()
    assert result.kept[-1].reasons[-1].evidence == "says run [torch/x.py]"
    assert [heard.tools for heard in server.heard] == [()]


def test_the_interface_of_the_other_provider_is_closed(relay_before: RelayBefore) -> None:
    """The offline ranker answers, and the notes say why."""
    server = ModelServer(looks_first)
    with server.serving() as model_url, relay_before(model_url, "openai") as url:
        result = judge(triage_client(order("anthropic"), url, WORKER_TOKEN, None))
    assert result.notes == ("model answered HTTP 409; the offline ranker decided instead",)
    assert server.bodies == []
