"""What a person gets: the clone as upstream, backends by name, keys that stay, variables for a relay."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from relay.devgithub.setup import ALLOWLIST_PATH, Plan, kept_key, relay_variables, set_up, shell_script
from relay.settings import RelaySettings
from tests.relay.devgithub.repositories import commit, repository

SECRET = "a-webhook-secret"


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    clone = repository(tmp_path / "up'stream")
    commit(clone, "Base", file="1\n")
    return Plan("upstream/torch", clone, ("acme/a", "acme/b"), None, "http://127.0.0.1:8000/")


def test_the_upstream_is_the_clone_with_an_allowlist_of_the_backends(plan: Plan, tmp_path: Path) -> None:
    state, app = set_up(tmp_path, plan, SECRET)
    state.hooks.close()
    upstream = state.repository("upstream/torch").source
    assert upstream.read("main", "file.txt") == b"1\n"
    assert upstream.read("main", ALLOWLIST_PATH) == b"L2:\n  - acme/a\n  - acme/b\n"
    assert app.webhook_url == "http://127.0.0.1:8000/github/webhook"
    assert all(state.installation_for(app, each) for each in state.repositories.values())


def test_an_allowlist_of_ones_own_is_read_anew(plan: Plan, tmp_path: Path) -> None:
    file = tmp_path / "allowlist.yml"
    state, _ = set_up(tmp_path, Plan(plan.upstream, plan.clone, plan.backends, file, plan.relay_url), SECRET)
    state.hooks.close()
    source = state.repository(plan.upstream).source
    assert source.read("main", ALLOWLIST_PATH) is None
    for text in ("L1: []\n", "L4: [acme/a]\n"):
        file.write_text(text)
        assert source.read("main", ALLOWLIST_PATH) == text.encode()


def test_keys_stay_and_are_private(tmp_path: Path) -> None:
    path = tmp_path / "app.pem"
    assert kept_key(path) == kept_key(path)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_shell_takes_the_variables_and_a_relay_its_settings(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way: file, shell, environment, settings. A quote in a path and the lines of a key survive it."""
    state, app = set_up(tmp_path, plan, SECRET)
    state.hooks.close()
    state.url = "http://127.0.0.1:8081"
    variables = relay_variables(state, app, plan)
    script = tmp_path / "relay.env"
    script.write_text(shell_script(variables))
    dump = ["sh", "-c", '. "$1" && env -0', "sh", str(script)]
    environment = subprocess.run(dump, check=True, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"}).stdout
    for entry in filter(None, environment.split("\0")):
        name, _, value = entry.partition("=")
        if name in variables:
            monkeypatch.setenv(name, value)
    settings = RelaySettings()
    assert settings.github_app_private_key is not None
    assert settings.github_app_private_key.get_secret_value() == app.private_pem.strip()
    assert settings.upstream_clone_url == str(plan.clone)
    assert (settings.github_api_url, settings.dev_oidc_issuer) == (state.url, state.url)
    assert settings.allowlist_url.endswith(f"/upstream/torch/blob/main/{ALLOWLIST_PATH}")
