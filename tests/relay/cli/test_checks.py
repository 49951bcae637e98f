"""`relay doctor`: every line says ok, warn or fail; a fail has a next step and exit code 1; no password is shown."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from relay.cli import checks
from relay.cli.check import Check
from relay.cli.checks import (
    check_broker,
    check_database,
    check_manifests,
    check_model,
    check_program,
    check_sandbox,
    check_torch,
)
from relay.settings import RelaySettings
from relay.store.engine import open_engine, upgrade_database
from tests.relay.cli.conftest import Relay
from tests.relay.stand_in import StandIn, closed_port
from tests.workers.small_upstream import new_upstream

NAMES = [
    "python",
    "git",
    "g++",
    "torch",
    "sandbox",
    "device",
    "emulator",
    "descriptors",
    "proxy",
    "tracing",
    "secrets",
    "secret files",
    "state folder",
    "disk",
    "database",
    "database clock",
    "broker",
    "manifests",
    "model",
    "upstream",
    "github app",
    "app rights",
    "github clock",
    "allowlist",
    "hud",
    "service",
    "sweep",
    "queue",
    "workers",
]
#: Those that need no settings.
OWN = NAMES[: NAMES.index("secrets")]


@pytest.fixture(autouse=True)
def _nothing_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An upstream of this machine, and no device, which takes seconds to try."""
    upstream = new_upstream(tmp_path / "upstream")
    upstream.commit({"a": "text\n"})
    monkeypatch.setenv("RELAY_UPSTREAM_CLONE_URL", str(upstream.path))
    monkeypatch.setenv("RELAY_DEVICE_CACHE", str(tmp_path / "no-device"))


@pytest.fixture
def _manifests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest folder that loads."""
    (tmp_path / "manifests").mkdir()
    monkeypatch.setenv("RELAY_MANIFEST_DIR", str(tmp_path / "manifests"))


@pytest.mark.usefixtures("_manifests")
def test_healthy_machine(relay: Relay, service: StandIn) -> None:
    """All checks, in a fixed order, exit code 0; nothing is made by looking."""
    ended = relay("doctor", "--json")
    assert ended.code == 0
    assert isinstance(ended.json, dict)
    assert ended.json["ok"] is True
    assert [check["name"] for check in ended.json["checks"]] == NAMES
    assert "fail" not in {check["status"] for check in ended.json["checks"]}


@pytest.mark.usefixtures("_manifests")
def test_a_service_with_old_manifests_is_a_warning(relay: Relay, service: StandIn) -> None:
    """It works, but not with what lies in its folder."""
    service.manifest_problem = "ops.yaml:3:1: no; the last good set stays in use"
    ended = relay("doctor", "--json")
    assert ended.code == 0
    assert isinstance(ended.json, dict)
    (found,) = [check for check in ended.json["checks"] if check["name"] == "service"]
    assert found["status"] == "warn"
    assert "the last good set stays in use" in found["detail"]


def test_a_missing_sandbox_is_a_warning_or_where_it_is_required_a_failure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The next step is the workers' own sentence."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = check_sandbox()
    assert (found.status, found.detail in {"landlock", "none"}) == ("warn", True)
    assert "apt-get install bubblewrap" in found.next_step
    monkeypatch.setenv("RELAY_SANDBOX", "required")
    assert check_sandbox().status == "fail"


def test_a_sandbox_mode_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_SANDBOX", "perhaps")
    found = check_sandbox()
    assert (found.status, "auto, required, off" in found.detail) == ("fail", True)


def test_failing_check_names_the_next_step(relay: Relay, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A missing manifest folder: exit code 1, the table on stdout, the step on stderr."""
    monkeypatch.setenv("RELAY_MANIFEST_DIR", str(tmp_path / "absent"))
    with closed_port() as url:
        ended = relay("doctor", "--url", url)
    assert ended.code == 1
    status = {line.split("\t")[1]: line.split("\t")[0] for line in ended.out.splitlines()}
    assert list(status) == NAMES
    assert (status["manifests"], status["service"]) == ("fail", "warn")
    assert "manifests: set RELAY_MANIFEST_DIR" in ended.err
    assert "service: start one with `relay up`" in ended.err
    assert "1 check failed" in ended.err
    assert not (tmp_path / "state").exists()


def test_settings_that_do_not_load_end_the_checks(relay: Relay, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not need them is checked all the same."""
    monkeypatch.setenv("RELAY_LEASE_SECONDS", "soon")
    ended = relay("doctor", "--json")
    assert ended.code == 1
    assert isinstance(ended.json, dict)
    found = {check["name"]: check for check in ended.json["checks"]}
    assert list(found) == [*OWN, "settings", *NAMES[len(OWN) :]]
    assert "RELAY_LEASE_SECONDS" in found["settings"]["detail"]
    assert {found[name]["status"] for name in NAMES[len(OWN) :]} == {"skip"}


def test_missing_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names what it is for and how to get it."""
    monkeypatch.setenv("PATH", "")
    found = check_program("g++", "warn")
    assert found.status == "warn"
    assert "apt install g++" in found.next_step


@pytest.mark.parametrize(("version", "status"), [("", "warn"), ("2.12.1+cpu", "warn"), ("2.13.0+cpu", "ok")])
def test_torch_is_judged_by_its_version(monkeypatch: pytest.MonkeyPatch, version: str, status: str) -> None:
    """Missing and of another series are both told, and nothing is imported to know."""
    monkeypatch.setattr(checks, "installed_version", lambda _: version)
    assert check_torch().status == status


def with_database(settings: RelaySettings, url: str) -> Check:
    return check_database(settings.model_copy(update={"database_url": url}))


def test_database_new_old_current_and_broken(settings: RelaySettings, tmp_path: Path) -> None:
    """A missing file is not made; an old schema is a warning; what is no database fails."""
    file = tmp_path / "relay.db"
    url = f"sqlite:///{file}"
    assert with_database(settings, url).status == "ok"
    assert not file.exists()
    sqlite3.connect(file).close()
    file.touch()
    assert with_database(settings, url).status == "warn"
    engine = open_engine(url)
    upgrade_database(engine)
    engine.dispose()
    assert with_database(settings, url) == Check("database", "ok", url)
    file.write_bytes(b"this is no database" * 100)
    assert with_database(settings, url).status == "fail"


def test_database_server_that_is_away_shows_no_password(settings: RelaySettings) -> None:
    """The address without the secret."""
    found = with_database(settings, "postgresql://relay:geheim@127.0.0.1:9/relay")
    assert found.status == "fail"
    assert "geheim" not in str(found)
    assert "127.0.0.1" in found.detail
    assert with_database(settings, "mysql://x/y").status == "fail"
    unreadable = with_database(settings, "geheim@nowhere")
    assert unreadable.status == "fail"
    assert "geheim" not in str(unreadable)


def test_manifests_of_every_backend_are_looked_at(settings: RelaySettings, tmp_path: Path) -> None:
    """What is wrong with one comes first; descriptions that cannot be used are said in their own words."""
    (tmp_path / "spyre.yaml").write_text("device: spyre\npackage: workers.spyre\n")
    (tmp_path / "quartz.yaml").write_text("device: quartz\npackage: workers.spyre\nmanifests: stones\n")
    given = settings.model_copy(update={"backends": str(tmp_path)})
    found = check_manifests(given)
    assert (found.status, "stones" in found.detail) == ("fail", True)
    (tmp_path / "stones").mkdir()
    found = check_manifests(given)
    assert (found.status, str(settings.manifest_dir) in found.detail, "stones" in found.detail) == ("ok", True, True)
    (tmp_path / "quartz.yaml").write_text("device: quartz\n")
    assert "quartz needs a package" in check_manifests(given).detail


def test_manifests_with_a_warning_are_one(settings: RelaySettings) -> None:
    """A key that means nothing, which the service ignores."""
    file = settings.manifest_dir / "a.yaml"
    fine = "test_suite_config:\n  files:\n    - path: ${TORCH_ROOT}/test/a.py\n      unlisted_test_mode: skip\n"
    file.write_text(fine)
    assert check_manifests(settings).status == "ok"
    file.write_text(f"{fine}  fils: []\n")
    found = check_manifests(settings)
    assert (found.status, "a.yaml:5:3" in found.detail, "relay manifest check" in found.next_step) == (
        "warn",
        True,
        True,
    )


def test_broker_server(settings: RelaySettings, valkey_url: str) -> None:
    """A server that answers, and one that does not, without its password."""
    assert check_broker(settings.model_copy(update={"broker_url": valkey_url})).status == "ok"
    away = check_broker(settings.model_copy(update={"broker_url": "redis://:geheim@127.0.0.1:9/0"}))
    assert away.status == "fail"
    assert "geheim" not in str(away)


def test_the_model_line_says_how_it_is_asked(tmp_path: Path) -> None:
    """Or from what it is played back, which has to be there."""
    file = tmp_path / "transcript.jsonl"
    recorded = RelaySettings(llm_provider="recorded", llm_transcript=file)
    missing = check_model(recorded)
    assert (missing.status, "RELAY_LLM_TRANSCRIPT" in missing.next_step) == ("fail", True)
    file.write_text("")
    assert check_model(recorded) == Check("model", "ok", f"played back from {file}")
