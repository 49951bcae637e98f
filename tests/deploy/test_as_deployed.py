"""The service as the manifests start it: processes of its own, PostgreSQL, a queue, secrets as files, and a file system
that cannot be written to."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import MakeDatabase
from tests.deploy.test_compose import make_secrets
from tests.deploy.test_kubernetes import PODS, WRITTEN
from tests.e2e.conftest import wait_until
from tests.workers.runner.sandbox.inside import missing

pytestmark = pytest.mark.e2e

NOWHERE = "/var/lib/oot-relay-that-is-not-there/state"
#: Everything as it is, read-only, but for a scratch folder.
READ_ONLY = ("bwrap", "--die-with-parent", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")


def arguments(pod: str) -> list[str]:
    found: list[str] = PODS[pod]["containers"][0]["args"]
    return found


WEB = arguments("base/service/web.yaml:Deployment:relay-web")
BACKGROUND = arguments("base/service/background.yaml:Deployment:relay-background")
MIGRATE = arguments("base/service/migrate.yaml:Job:relay-migrate")


@pytest.fixture
def environment(tmp_path: Path, make_postgres_database: MakeDatabase, valkey_url: str) -> dict[str, str]:
    """What a pod is given: the settings of the manifests, and secrets in a folder."""
    if shutil.which("bwrap") is None:
        missing("needs bubblewrap, for a file system that cannot be written to")
    secrets = tmp_path / "secrets"
    make_secrets(secrets)
    (secrets / "database_url").write_text(make_postgres_database("empty"))
    (secrets / "broker_url").write_text(valkey_url)
    settings: dict[str, str] = WRITTEN["base/service/settings.yaml:ConfigMap:oot-relay"]["data"]
    (scratch := tmp_path / "scratch").mkdir()
    return {
        **settings,
        "PATH": os.environ["PATH"],
        "RELAY_SECRETS_DIR": str(secrets),
        "RELAY_STATE_DIR": NOWHERE,
        "TMPDIR": str(scratch),
    }


def command(environment: Mapping[str, str], words: list[str]) -> list[str]:
    scratch = environment["TMPDIR"]
    return [*READ_ONLY, "--bind", scratch, scratch, "--", sys.executable, "-m", "relay", *words]


def migrate(environment: Mapping[str, str]) -> None:
    done = subprocess.run(command(environment, MIGRATE), env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@contextmanager
def started(environment: Mapping[str, str], words: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The process itself, to be told to stop as its orchestrator would; its log goes to a file."""
    with log.open("wb") as output:
        process = subprocess.Popen(command(environment, words), env=environment, stdout=output, stderr=output)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def ready(url: str) -> dict[str, Any]:
    """What `/readyz` says, nothing while nobody answers."""
    try:
        answer = httpx.get(f"{url}/readyz", timeout=5)
    except httpx.TransportError:
        return {}
    return {"status": answer.status_code, **answer.json()}


def child_of(process: subprocess.Popen[bytes]) -> int:
    """The program inside: bubblewrap itself passes no signals on."""
    (below,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return int(below)


def test_the_parts_come_up_as_the_manifests_start_them(environment: dict[str, str], tmp_path: Path) -> None:
    """The schema by the job, a web part that is ready, a background part whose sweep the web part tells of."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    migrate(environment)
    # A second job of the same version changes nothing.
    migrate(environment)
    logs = {"web": tmp_path / "web.log", "background": tmp_path / "background.log"}
    with ExitStack() as stack:
        web = stack.enter_context(started(environment, [*WEB, "--port", str(port)], logs["web"]))
        wait_until(lambda: ready(url).get("status") == 200, 60)
        assert "sweep" in ready(url)["late"]
        background = stack.enter_context(started(environment, BACKGROUND, logs["background"]))
        wait_until(lambda: ready(url).get("sweep_age_s") is not None, 60)
        assert ready(url)["late"] == []
        assert "relay_sweep_age_seconds" in httpx.get(f"{url}/metrics").text
        for process, where in ((background, "background"), (web, "web")):
            os.kill(child_of(process), signal.SIGTERM)
            assert process.wait(30) == 0, logs[where].read_text()
    for log in logs.values():
        assert "Traceback" not in log.read_text()
    assert not Path(NOWHERE).parent.exists()


def test_a_web_part_is_not_ready_without_its_database(environment: dict[str, str], tmp_path: Path) -> None:
    """It answers that it is alive: a database that is away is no reason to restart it."""
    migrate(environment)
    Path(environment["RELAY_SECRETS_DIR"], "database_url").write_text(
        f"postgresql://relay@127.0.0.1:{free_port()}/relay"
    )
    url = f"http://127.0.0.1:{(port := free_port())}"
    with started(environment, [*WEB, "--port", str(port)], tmp_path / "web.log"):
        wait_until(lambda: ready(url).get("status") == 503, 60)
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert json.loads(httpx.get(f"{url}/readyz").text)["late"] == ["database"]
