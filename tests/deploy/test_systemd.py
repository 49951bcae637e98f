"""The systemd units: accepted by systemd, hardened, and not so much that a worker's sandbox would not come up."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from relay.settings import RelaySettings
from relay.settings.secret_folder import SECRETS
from tests.deploy.deployed import DEPLOY, ROOT, check_command
from tests.workers.runner.sandbox.inside import missing, reachable_python
from workers.settings import WorkerSettings

UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
NAMES = [unit.name for unit in UNITS]
PREFIX = "/opt/oot-relay/bin/"
#: Of 10, by systemd's own reckoning: what it calls OK.
EXPOSURE = {"relay-web.service": 2.0, "relay-background.service": 2.0, "relay-worker@.service": 4.0}


def values(unit: str, key: str) -> list[str]:
    text = (DEPLOY / "systemd" / unit).read_text()
    return re.findall(rf"^{key}=(.*)$", text, re.MULTILINE)


def analyze(*words: str) -> str:
    if shutil.which("systemd-analyze") is None:
        pytest.skip(
            "systemd-analyze is not here: the units' commands and settings were checked, their options were not"
        )
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_systemd_accepts_the_unit(name: str, tmp_path: Path) -> None:
    """With a program that is there instead of the installed one. Unknown options are warnings, and count."""
    text = (DEPLOY / "systemd" / name).read_text().replace(f"{PREFIX}relay", sys.executable)
    unit = tmp_path / name.replace("@.", "@1.")
    unit.write_text(text)
    assert analyze("verify", "--man=no", str(unit)) == ""


@pytest.mark.parametrize("name", NAMES)
def test_little_of_the_machine_is_exposed(name: str) -> None:
    unit = str(DEPLOY / "systemd" / name)
    analyze("security", "--offline=yes", f"--threshold={int(EXPOSURE[name] * 10)}", "--no-pager", unit)


@pytest.mark.parametrize("name", NAMES)
def test_the_unit_starts_a_real_command(name: str) -> None:
    for line in [line for key in ("ExecStart", "ExecStartPre", "ExecReload") for line in values(name, key)]:
        assert line.startswith(f"{PREFIX}relay ")
        check_command(line.split()[1:])


@pytest.mark.parametrize("name", NAMES)
def test_a_unit_runs_as_a_user_without_rights_of_its_own(name: str) -> None:
    (user,) = values(name, "User")
    assert user == ("oot-relay-worker" if "worker" in name else "oot-relay")
    assert values(name, "CapabilityBoundingSet") == [""]
    assert values(name, "NoNewPrivileges") == ["yes"]


def test_the_secrets_of_a_folder_are_read_as_systemd_names_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`LoadCredential=relay:FOLDER` gives `relay_NAME` for every file of it."""
    for name in ("relay-web.service", "relay-background.service"):
        assert values(name, "LoadCredential") == ["relay:/etc/oot-relay/secrets"]
        assert "RELAY_SECRETS_DIR=%d" in values(name, "Environment")
    for name in SECRETS:
        (tmp_path / f"relay_{name}").write_text(
            f"sqlite:///{name}" if name.endswith("_url") else f"the {name} of a test"
        )
    monkeypatch.setenv("RELAY_SECRETS_DIR", str(tmp_path))
    monkeypatch.setenv("RELAY_LLM_MODEL", "m")  # goes with the address, which may hold a login
    settings = RelaySettings()
    for name in SECRETS:
        held = getattr(settings, name)
        assert name in (held if isinstance(held, str) else held.get_secret_value())


def test_a_worker_is_given_two_secrets() -> None:
    given = [line.partition(":")[0] for line in values("relay-worker@.service", "LoadCredential")]
    assert given == ["worker_token", "broker_url"]


def test_the_kernel_waits_longer_than_a_worker_takes() -> None:
    """The parent alone is told to stop; what is left afterwards is killed."""
    assert values("relay-worker@.service", "KillMode") == ["mixed"]
    (seconds,) = values("relay-worker@.service", "TimeoutStopSec")
    assert int(seconds) > WorkerSettings.model_fields["test_timeout_s"].default


def test_nothing_keeps_a_worker_from_its_sandbox() -> None:
    """Each of these was tried: bubblewrap makes no namespace, or cannot mount /proc where a part of it is masked."""
    text = (DEPLOY / "systemd" / "relay-worker@.service").read_text()
    for option in ("RestrictNamespaces", "PrivateUsers", "ProcSubset", "ProtectKernelTunables", "ProtectKernelLogs"):
        assert not re.search(rf"^{option}=", text, re.MULTILINE)


INSIDE = """
import errno, sys
import pyseccomp
from tests.workers.runner.sandbox.inside import as_nobody
from workers.runner.sandbox.find import look_for_sandbox

python, names = sys.argv[1], sys.argv[2:]
rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
for name in names:
    try:
        rules.add_rule(pyseccomp.ALLOW, name)
    except (OSError, ValueError, RuntimeError):
        pass  # of another architecture
rules.load()
sys.executable = python
with as_nobody():
    print(look_for_sandbox().problem)
"""


@pytest.mark.parametrize("left_out", ["", "sethostname", "@mount"])
def test_the_sandbox_comes_up_with_the_system_calls_of_the_unit(left_out: str) -> None:
    """And does not without those that the unit adds: so the check looks at the right thing."""
    if os.geteuid() != 0 or shutil.which("bwrap") is None:
        missing("needs root, to become a user without rights, and bubblewrap")
    python = reachable_python()
    if python is None:
        missing("needs a Python that every user can run")
    wanted = " ".join(values("relay-worker@.service", "SystemCallFilter")).split()
    allowed = system_calls([name for name in wanted if name != left_out])
    command = [sys.executable, "-c", INSIDE, str(python), *sorted(allowed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert (done.stdout.strip() == "") is (left_out == ""), done.stdout


def system_calls(wanted: list[str]) -> set[str]:
    """What systemd lets through for these names and sets of names."""
    groups: dict[str, set[str]] = {}
    name = ""
    for line in analyze("syscall-filter", "--no-pager").splitlines():
        word = line.strip()
        if line.startswith("@"):
            name = word
            groups[name] = set()
        elif name and word and not word.startswith("#"):
            groups[name].add(word)

    def whole(name: str) -> set[str]:
        return {name} if name not in groups else {call for part in groups[name] for call in whole(part)}

    return {call for name in ("@default", *wanted) for call in whole(name)}


CONFINED = """
import errno, os, sys
import pyseccomp

rules = pyseccomp.SyscallFilter(pyseccomp.ERRNO(errno.EPERM))
for name in sys.argv[2:]:
    try:
        rules.add_rule(pyseccomp.ALLOW, name)
    except (OSError, ValueError, RuntimeError):
        pass  # of another architecture
rules.load()
os.execv(sys.executable, [sys.executable, "-m", "relay", *sys.argv[1].split()])
"""


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["relay-web.service", "relay-background.service"])
def test_the_service_runs_with_the_system_calls_of_its_unit(name: str, tmp_path: Path) -> None:
    """It comes up and ends by itself when told to; what is not allowed would fail with EPERM."""
    if os.geteuid() != 0:
        missing("needs root, to load the list of system calls")
    given = values(name, "SystemCallFilter")
    taken = [line.removeprefix("~").split() for line in given if line.startswith("~")]
    let_through = [line.split() for line in given if not line.startswith("~")]
    allowed = system_calls([call for line in let_through for call in line])
    allowed -= system_calls([call for line in taken for call in line]) - system_calls([])
    (start,) = values(name, "ExecStart")
    words = " ".join(start.split()[1:]).replace("--port 8000", "--port 0")
    environment = {"PATH": os.environ["PATH"], "RELAY_STATE_DIR": str(tmp_path)}
    prepared = [sys.executable, "-m", "relay", "db", "upgrade"]
    subprocess.run(prepared, env=environment, cwd=ROOT, check=True, capture_output=True)
    command = [sys.executable, "-c", CONFINED, words, *sorted(allowed)]
    log = tmp_path / "log"
    with log.open("wb") as errors:
        process = subprocess.Popen(command, env=environment, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
    try:
        assert process.stdout is not None
        assert "Ctrl-C stops it" in process.stdout.readline(), log.read_text()
        process.terminate()
        assert process.wait(60) == 0, log.read_text()
        process.stdout.close()
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in log.read_text()
