"""Children are kept running, are told little, and are gone when the supervisor is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from relay.machine.processes import Backoff, ChildSpec, Supervisor, last_line, minimal_environment
from tests.waiting import until

FAST = Backoff(first_s=0.05, limit_s=0.2, healthy_s=60)
SLEEP = "import time; time.sleep(600)"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"


def gone(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state == "Z"


def spec(tmp_path: Path, code: str, name: str = "child") -> ChildSpec:
    environment = minimal_environment(os.environ, {"RELAY_MARK": "told"})
    return ChildSpec(name, [sys.executable, "-c", code], environment, tmp_path / "logs" / f"{name}.log")


def said(spec: ChildSpec) -> str:
    """What a child wrote so far."""
    assert spec.log_file is not None
    return spec.log_file.read_text() if spec.log_file.exists() else ""


def nothing() -> None:
    """No upkeep needed."""


def test_killed_child_is_started_again(tmp_path: Path) -> None:
    """SIGKILL of a child leads to a new child."""
    with Supervisor([spec(tmp_path, SLEEP)], upkeep=nothing, backoff=FAST) as supervisor:
        (first,) = supervisor.pids()
        os.kill(first, signal.SIGKILL)
        until(lambda: supervisor.pids() not in {(), (first,)}, "a new child")


def test_child_that_always_fails_is_not_restarted_without_pause(tmp_path: Path) -> None:
    """The waits double up to the limit, whatever the number of failures."""
    backoff = Backoff(first_s=0.5, limit_s=30.0)
    assert [backoff.after(n) for n in (1, 2, 3, 7, 5000)] == [0.5, 1.0, 2.0, 30.0, 30.0]
    failing = spec(tmp_path, "print('bad', flush=True); raise SystemExit(3)")
    with Supervisor([failing], upkeep=nothing, backoff=Backoff(first_s=30.0), look_s=0.02):
        until(lambda: "bad" in said(failing), "first try")
        time.sleep(0.3)  # the time in which a supervisor without backoff would have tried again
    assert said(failing).count("bad") == 1


def test_backoff_is_forgotten_after_a_healthy_while(tmp_path: Path) -> None:
    """A child that was healthy long enough is started again after the first, short wait."""
    starts = spec(tmp_path, "print('up', flush=True); raise SystemExit(1)")
    always_healthy = Backoff(first_s=0.02, limit_s=1000.0, healthy_s=0.0)
    with Supervisor([starts], upkeep=nothing, backoff=always_healthy, look_s=0.02):
        # Without the reset the 16th start would be due after 0.02 * 2^14 s, which is five minutes.
        until(lambda: said(starts).count("up") > 15, "16 starts", 60)


def test_stop_leaves_no_process_of_the_group_behind(tmp_path: Path) -> None:
    """Neither a child that ignores SIGTERM nor its grandchild survives, and stopping is bounded."""
    grandchild = tmp_path / "grandchild.pid"
    code = (
        "import subprocess, sys, pathlib\n"
        f"child = subprocess.Popen([sys.executable, '-c', {DEAF!r}])\n"
        f"pathlib.Path({str(grandchild)!r}).write_text(str(child.pid))\n" + DEAF.replace("; ", "\n")
    )
    deaf = spec(tmp_path, code)
    with Supervisor([deaf], upkeep=nothing, grace_s=0.3) as supervisor:
        until(lambda: said(deaf).count("deaf") == 2, "both are deaf")
        pids = (*supervisor.pids(), int(grandchild.read_text()))
    until(lambda: all(gone(pid) for pid in pids), "everyone is gone")


def test_polite_child_may_finish(tmp_path: Path) -> None:
    """SIGTERM comes first, and there is time to act on it."""
    code = (
        "import signal, time\n"
        "def bye(*_):\n    print('bye', flush=True); raise SystemExit(0)\n"
        "signal.signal(signal.SIGTERM, bye)\nprint('ready', flush=True)\ntime.sleep(600)"
    )
    polite = spec(tmp_path, code)
    with Supervisor([polite], upkeep=nothing):
        until(lambda: "ready" in said(polite), "ready")
    assert "bye" in said(polite)


def test_upkeep_runs_again_while_children_run(tmp_path: Path) -> None:
    """A folder that vanishes under a running child comes back."""
    folder = tmp_path / "broker"
    with Supervisor([spec(tmp_path, SLEEP)], upkeep=lambda: folder.mkdir(exist_ok=True), look_s=0.02):
        assert folder.is_dir()
        folder.rmdir()
        until(folder.is_dir, "the folder is back")


def test_upkeep_that_fails_is_tried_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """An OSError of the upkeep is logged, no child starts meanwhile, and the supervisor lives on."""
    blocker = tmp_path / "blocker"
    blocker.write_text("a file where a folder should be")
    upkeep = (blocker / "broker").mkdir
    with Supervisor([spec(tmp_path, SLEEP)], upkeep=lambda: upkeep(parents=True, exist_ok=True), look_s=0.02) as it:
        assert it.pids() == ()
        assert "cannot prepare" in caplog.text
        blocker.unlink()
        until(lambda: it.pids() != (), "the child starts once the way is free")


def test_child_sees_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is an allow-list plus what was given."""
    monkeypatch.setenv("RELAY_WEBHOOK_SECRET", "geheim")
    monkeypatch.setenv("GITHUB_TOKEN", "geheim")
    child = spec(tmp_path, "import os; print(sorted(os.environ), os.environ['RELAY_MARK'], flush=True)")
    with Supervisor([child], upkeep=nothing, backoff=Backoff(first_s=60)):
        until(lambda: "told" in said(child), "the child has printed")
    seen = said(child)
    assert "RELAY_WEBHOOK_SECRET" not in seen
    assert "GITHUB_TOKEN" not in seen
    assert "PATH" in seen


def test_child_without_a_log_writes_where_we_complain(tmp_path: Path) -> None:
    """Both its streams: our own stdout is for data. It reads what it is given, and has the descriptors it is given."""
    code = (
        "import os, pathlib, subprocess, sys, time\n"
        "from relay.machine.processes import Backoff, ChildSpec, Supervisor\n"
        f"given = pathlib.Path({str(tmp_path / 'given')!r}); given.write_text('what was given')\n"
        "reads = os.open(given, os.O_RDONLY)\n"
        "hears, tells = os.pipe()\n"
        "child = 'import os, sys; print(sys.stdin.read(), flush=True); os.write(2, os.read(int(sys.argv[1]), 9))'\n"
        "os.write(tells, b'and heard')\n"
        "spec = ChildSpec('c', [sys.executable, '-c', child, str(hears)], {}, None, reads, (hears,))\n"
        "with Supervisor([spec], upkeep=lambda: None, backoff=Backoff(first_s=60)) as it:\n"
        "    while it.pids(): time.sleep(0.02)\n"
        "print('data')\n"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], check=False, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout == "data\n"
    assert ran.stderr.startswith("what was given\nand heard")


def test_last_words_are_one_printable_line(tmp_path: Path) -> None:
    """What a child said last is capped and cannot act on a terminal."""
    log = tmp_path / "child.log"
    log.write_bytes(b"first\n" + b"x" * 5000 + b"\x1b[31mg++ is missing\xff\n\n  \n")
    assert last_line(log).endswith(" [31mg++ is missing\N{REPLACEMENT CHARACTER}")
    assert len(last_line(log)) == 300
    assert last_line(tmp_path / "none.log") == ""


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is a Linux call")
def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    """SIGKILL of the supervising process takes its children along."""
    program = tmp_path / "parent.py"
    program.write_text(
        "import sys, pathlib, time\n"
        "from relay.machine.processes import ChildSpec, Supervisor\n"
        "folder = pathlib.Path(sys.argv[1])\n"
        f"spec = ChildSpec('c', [sys.executable, '-c', {SLEEP!r}], {{}}, folder / 'c.log')\n"
        "with Supervisor([spec], upkeep=lambda: None) as supervisor:\n"
        "    print(*supervisor.pids(), flush=True)\n    time.sleep(600)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    parent = subprocess.Popen([sys.executable, program, tmp_path], stdout=subprocess.PIPE, text=True, env=environment)
    with parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        until(lambda: b"time.sleep" in Path(f"/proc/{child}/cmdline").read_bytes(), "the child runs")
        until(lambda: b"--parent" not in Path(f"/proc/{child}/cmdline").read_bytes(), "the launcher became it")
        parent.kill()
    until(lambda: gone(child), "the child is gone")
