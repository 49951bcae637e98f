"""The service as the manifests start it: processes of its own, PostgreSQL, a queue, secrets as files, and a file system
that cannot be written to."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.conftest import MakeDatabase
from tests.deploy.cluster import PODS, WRITTEN
from tests.deploy.deployed import make_secrets
from tests.ports import free_port
from tests.waiting import until
from tests.workers.runner.sandbox.inside import missing
from workers.spyre.build import ensure_library
from workers.spyre.cache import default_cache

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
        until(lambda: ready(url).get("status") == 200, seconds=60)
        assert "sweep" in ready(url)["late"]
        background = stack.enter_context(started(environment, BACKGROUND, logs["background"]))
        until(lambda: ready(url).get("sweep_age_s") is not None, seconds=60)
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
        until(lambda: ready(url).get("status") == 503, seconds=60)
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert json.loads(httpx.get(f"{url}/readyz").text)["late"] == ["database"]


#: A user without rights in a user namespace, as a pod with `hostUsers: false` has it, and no file to write but its own.
POD = (
    "unshare",
    *(
        "--user",
        "--keep-caps",
        "--map-user=10001",
        "--map-group=10001",
        "--mount",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
    ),
)
NO_RIGHTS = "setpriv --ambient-caps=-all --bounding-set=-all --inh-caps=-all --no-new-privs"


@pytest.fixture
def worker_environment(tmp_path: Path, valkey_url: str) -> dict[str, str]:
    """What a worker's pod is given. The device is compiled already, as in the image."""
    if os.geteuid() != 0 or shutil.which("bwrap") is None:
        missing("needs root, to make the namespaces of a pod, and bubblewrap")
    ensure_library(default_cache())
    for folder in ("secrets", "work"):
        (tmp_path / folder).mkdir()
    (tmp_path / "secrets" / "worker_token").write_text("the-token-of-a-worker\n")
    (tmp_path / "secrets" / "broker_url").write_text(valkey_url)
    settings: dict[str, str] = WRITTEN["base/worker/worker.yaml:ConfigMap:relay-worker"]["data"]
    return {
        **settings,
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path / "work"),
        "TMPDIR": str(tmp_path / "work"),
        "RELAY_URL": f"http://127.0.0.1:{free_port()}",
        "RELAY_SECRETS_DIR": str(tmp_path / "secrets"),
        "RELAY_WORKER_TOKEN_FILE": str(tmp_path / "secrets" / "worker_token"),
        "RELAY_STATE_DIR": NOWHERE,
        "RELAY_WORK_DIR": str(tmp_path / "work" / "relay"),
        "RELAY_DEVICE_CACHE": str(default_cache()),
    }


def in_a_pod(environment: Mapping[str, str], before: str = "true") -> list[str]:
    """The worker of the manifests, inside; `before` is done to the pod first."""
    work = shlex.quote(environment["HOME"])
    words = shlex.join([sys.executable, "-m", "relay", *arguments("base/worker/worker.yaml:Deployment:relay-worker")])
    confine = f"{before} && mount --bind {work} {work} && mount -o remount,bind,ro /"
    return [*POD, "sh", "-c", f"{confine} && exec {NO_RIGHTS} -- {words}"]


def test_a_worker_makes_its_sandbox_in_a_pod_and_goes_when_told(
    worker_environment: dict[str, str], tmp_path: Path
) -> None:
    """Without rights, on a file system that cannot be written to. It ends long before it would be killed."""
    log = tmp_path / "worker.log"
    with log.open("wb") as output:
        process = subprocess.Popen(in_a_pod(worker_environment), env=worker_environment, stdout=output, stderr=output)
    try:
        until(lambda: process.poll() is not None or b" ready." in log.read_bytes(), seconds=120)
        assert process.poll() is None, log.read_text()
        assert '"sandbox": "bubblewrap"' in log.read_text()
        os.kill(child_of(process), signal.SIGTERM)
        assert process.wait(60) == 0, log.read_text()
    finally:
        process.kill()
        process.wait()
    assert not Path(NOWHERE).parent.exists()


def test_a_worker_says_so_where_a_part_of_proc_is_masked(worker_environment: dict[str, str]) -> None:
    """As container engines do unless they are told not to: hence `procMount` and `systempaths` in the manifests."""
    command = in_a_pod(worker_environment, "mount --bind /dev/null /proc/kmsg")
    done = subprocess.run(command, env=worker_environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "RELAY_SANDBOX=required, but bubblewrap cannot start a program" in done.stderr
    assert "mount proc" in done.stderr
