"""The compose file: valid by the specification, and what runs where is given what it needs and no more."""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlalchemy import make_url

from relay.contract import broker_connection
from relay.settings import RelaySettings
from tests.deploy.deployed import DEPLOY, check_command, make_secrets

FILE = DEPLOY / "compose.yaml"
OURS = ("migrate", "web", "background", "worker")


def interpolated() -> str:
    """The file as compose reads it with nothing set: every variable has a default."""
    text = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", FILE.read_text())
    assert "${" not in text
    return text


COMPOSE: dict[str, Any] = yaml.safe_load(interpolated())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]


def secret_files() -> set[str]:
    """The files that the compose file takes from `make_secrets.py`."""
    return {Path(secret["file"]).name for secret in COMPOSE["secrets"].values()}


def check(file: Path) -> subprocess.CompletedProcess[str]:
    """Hold a file to the specification's own schema."""
    program = Path(sys.executable).with_name("check-jsonschema")
    command = [str(program), "--builtin-schema", "vendor.compose-spec", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_it_is_valid_by_the_specification() -> None:
    done = check(FILE)
    assert done.returncode == 0, done.stdout
    assert set(SERVICES) == {*OURS, "postgres", "redis"}


def test_the_check_can_fail(tmp_path: Path) -> None:
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(FILE.read_text().replace("retries:", "tries:"))
    assert check(wrong).returncode == 1


def test_what_services_name_is_there() -> None:
    for service in SERVICES.values():
        assert set(service["networks"]) <= set(COMPOSE["networks"])
        assert set(service.get("secrets", ())) <= set(COMPOSE["secrets"])
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        named = {volume.partition(":")[0] for volume in service.get("volumes", ())}
        assert named <= set(COMPOSE["volumes"])


def test_compose_itself_accepts_it(tmp_path: Path) -> None:
    probe = ["docker", "compose", "version"]
    if shutil.which("docker") is None or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("docker compose is not installed here: the file was held to the specification")
    for name in secret_files():
        (tmp_path / name).touch()
    subprocess.run(["docker", "compose", "-f", str(FILE), "config", "--quiet"], check=True, capture_output=True)


@pytest.mark.parametrize("name", OURS)
def test_every_command_is_real(name: str) -> None:
    check_command(SERVICES[name].get("command", ["worker"]))


@pytest.mark.parametrize("name", OURS)
def test_nothing_of_ours_has_rights(name: str) -> None:
    service = SERVICES[name]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert "privileged" not in service


def test_a_worker_gets_its_token_and_the_queue_and_nothing_else() -> None:
    worker = SERVICES["worker"]
    assert set(worker["secrets"]) == {"worker_token", "broker_url"}
    assert set(worker["networks"]) == {"queue", "outside"}
    assert "record" in SERVICES["postgres"]["networks"]
    assert worker["environment"]["RELAY_SANDBOX"] == "required"


def test_a_worker_can_make_its_sandbox() -> None:
    """A masked path below the container's /proc keeps the kernel from mounting another one inside."""
    assert {"systempaths=unconfined", "seccomp:unconfined"} <= set(SERVICES["worker"]["security_opt"])


def test_no_secret_is_in_an_environment() -> None:
    for service in SERVICES.values():
        named = {key for key in service.get("environment", {}) if re.search("PASSWORD|TOKEN|SECRET|KEY|_URL$", key)}
        assert named <= {"POSTGRES_PASSWORD_FILE", "RELAY_PUBLIC_URL", "RELAY_ALLOWLIST_URL", "RELAY_URL"}


def test_only_this_machine_reaches_what_is_published() -> None:
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published == ["127.0.0.1:8000:8000"]


def test_the_web_part_is_asked_by_both_probes() -> None:
    from relay.web.probes import router

    known = {getattr(route, "path", "") for route in router.routes}
    asked = set(re.findall(r"'(\w+z)'", SERVICES["web"]["healthcheck"]["test"][-1]))
    assert asked == {"healthz", "readyz"}
    assert {f"/{path}" for path in asked} <= known


def test_what_waits_waits_for_something_that_can_become_healthy() -> None:
    for service in SERVICES.values():
        for other, wanted in service.get("depends_on", {}).items():
            if wanted["condition"] == "service_healthy":
                assert "healthcheck" in SERVICES[other]


def test_secrets_are_made_once_and_fit_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The relay reads the folder as it is made, and a second call changes nothing."""
    folder = tmp_path / "secrets"
    make_secrets(folder)
    assert secret_files() <= {file.name for file in folder.iterdir()}
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()} == {0o644}, "containers have another user"
    before = {file.name: file.read_text() for file in folder.iterdir()}
    make_secrets(folder, "--database", "elsewhere/other")
    assert {file.name: file.read_text() for file in folder.iterdir()} == before
    monkeypatch.setenv("RELAY_SECRETS_DIR", str(folder))
    settings = RelaySettings()
    assert make_url(settings.database_url).password == before["postgres_password"].strip()
    assert make_url(settings.database_url).host == "postgres"
    assert broker_connection(settings.broker_url).url.startswith("redis://")
    password = before["redis_password"].strip()
    assert f":{password}@redis:6379" in settings.broker_url
    assert f"requirepass {password}\n" in before["redis_config"]
    assert settings.webhook_secret is not None
