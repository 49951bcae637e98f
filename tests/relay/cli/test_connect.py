"""Which relay a command means, and who gets the operator token."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.cli.connect import DEFAULT_URL, NoToken, find_url, load_settings, open_operator_client
from relay.machine.state_folder import announce, demo_folder
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import TOKEN, StandIn


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder with an operator token in it."""
    monkeypatch.setenv("RELAY_STATE_DIR", str(tmp_path))
    (tmp_path / "operator-token").write_text(f"{TOKEN}\n")
    return tmp_path


def test_order_of_addresses(state_dir: Path) -> None:
    """What is given, else what is announced, else the default."""
    settings = load_settings()
    assert find_url(settings, None) == DEFAULT_URL
    with announce(state_dir, "http://127.0.0.1:4711"):
        assert find_url(settings, None) == "http://127.0.0.1:4711"
        assert find_url(settings, "http://relay.example") == "http://relay.example"


def test_a_demo_is_found_with_its_token_when_nothing_else_runs(state_dir: Path) -> None:
    """The commands on its page are copied from it, into a shell that knows nothing of the demo."""
    settings, demo = load_settings(), demo_folder(state_dir)
    demo.mkdir()
    (demo / "operator-token").write_text("the-token-of-the-demo\n")
    with announce(demo, "http://127.0.0.1:4712"):
        assert find_url(settings, None) == "http://127.0.0.1:4712"
        with open_operator_client(None) as client:
            assert client._token == "the-token-of-the-demo"
        with announce(state_dir, "http://127.0.0.1:4711"):
            assert find_url(settings, None) == "http://127.0.0.1:4711"


def test_token_of_the_state_folder_serves_this_machine(relay: Relay, service: StandIn, state_dir: Path) -> None:
    """No setting is needed on the machine of the service."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RELAY_OPERATOR_TOKEN")
        patch.setenv("RELAY_STATE_DIR", str(state_dir))
        assert relay("run", "cancel", "2").code == 0
    assert service.tokens == [f"Bearer {TOKEN}"]


def test_token_of_the_state_folder_is_not_sent_elsewhere(state_dir: Path) -> None:
    """A wrong --url cannot collect it: the command ends before anything is sent."""
    with pytest.raises(NoToken, match=r"relay\.example"):
        open_operator_client("http://relay.example")


def test_given_token_goes_where_it_is_told(state_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who sets RELAY_OPERATOR_TOKEN means the relay they name."""
    monkeypatch.setenv("RELAY_OPERATOR_TOKEN", TOKEN)
    with open_operator_client("http://relay.example") as client:
        assert client.base_url == "http://relay.example"
