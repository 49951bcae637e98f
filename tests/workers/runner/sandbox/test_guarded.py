"""Programs without bubblewrap: under a guard that ends all of them, with or without the kernel's own walls."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.waiting import until
from tests.workers.runner.sandbox.inside import (
    NOBODY,
    as_nobody,
    killed_worker,
    missing,
    named,
    open_folder,
    reachable_python,
    run_inside,
)
from workers.runner.sandbox import Guarded, Launch, Sandbox, SandboxLimits, Unconfined, interpreter_folders
from workers.runner.sandbox.guard import landlock_version
from workers.runner.sandbox.guarded import KEEPS_SIGNALS
from workers.runner.sandbox.syscalls import filter_program

PYTHON = sys.executable
#: Itself, three that it leaves, and their parents, which nobody has reaped.
PROCESSES = 7
#: One forgets its session, one its environment and its program, one takes in the orphans.
RESTLESS = """
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
libc.prctl(15, b"{name}", 0, 0, 0)
for way in range(3):
    if os.fork() == 0:
        os.setsid()
        libc.prctl(36, 1, 0, 0, 0)
        if os.fork() == 0:
            if way == 2:
                os.execve({python!r}, [{python!r}, "-I", "-S", "-c", "import ctypes, time; "
                          "ctypes.CDLL(None).prctl(15, b'{name}', 0, 0, 0); time.sleep(600)"], {{}})
            time.sleep(600)
        os._exit(0)
print("up", flush=True)
{end}
"""


def guarded() -> Sandbox:
    if landlock_version() < KEEPS_SIGNALS:
        missing(f"this kernel has version {landlock_version()} of Landlock")
    return Guarded("for a test", SandboxLimits(), landlock_version(), filter_program(pairs_only=True))


def unconfined() -> Sandbox:
    return Unconfined("for a test")


BOTH = pytest.mark.parametrize("kind", [guarded, unconfined])


def started(sandbox: Sandbox, folder: Path, name: str, end: str = "time.sleep(600)") -> subprocess.Popen[bytes]:
    argv = (PYTHON, "-c", RESTLESS.format(name=name, python=PYTHON, end=end))
    shown = (*interpreter_folders(Path(PYTHON)), folder)
    return sandbox.start(Launch(argv, {"PATH": os.defpath}, folder, shown, folder))


@BOTH
def test_the_program_gets_the_launchs_environment_and_a_clean_start(
    kind: Callable[[], Sandbox], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "of-the-worker")
    program = """
        import json, os, resource
        fds = sorted(map(int, os.listdir("/proc/self/fd")))
        limits = [resource.getrlimit(kind)[1] for kind in (resource.RLIMIT_AS, resource.RLIMIT_CORE)]
        status = dict(line.split(":\\t") for line in open("/proc/self/status") if ":\\t" in line)
        print(json.dumps([dict(os.environ), os.getcwd(), fds, limits, status["NoNewPrivs"].strip(), status["CapEff"]]))
    """
    sandbox = kind()
    _, output = run_inside(sandbox, (PYTHON, "-c", textwrap.dedent(program)), tmp_path, LC_ALL="C.UTF-8")
    environment, folder, descriptors, limits, sealed, rights = json.loads(output)
    root = str(sandbox.temporary_root(tmp_path))
    wanted = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": root, "TMPDIR": root}
    assert {name: value for name, value in environment.items() if name not in {"USER", "LOGNAME"}} == wanted
    assert (folder, root, descriptors, sealed) == (str(tmp_path), str(tmp_path), [0, 1, 2, 3], "1")
    assert limits == [SandboxLimits().address_space_bytes, 0]
    # The right to look for files, which are Landlock's to allow; nothing where there is no Landlock.
    assert int(rights, 16) in ({0, 4} if sandbox.name == "landlock" else {0})


@BOTH
def test_exit_and_output_come_out(kind: Callable[[], Sandbox], tmp_path: Path) -> None:
    program = "import os, sys; print('printed', flush=True); print('told', file=sys.stderr); sys.exit(7)"
    assert run_inside(kind(), (PYTHON, "-c", program), tmp_path) == (7, "printed\ntold\n")
    status, _ = run_inside(kind(), (PYTHON, "-c", "import os; os.abort()"), tmp_path)
    assert status == -signal.SIGABRT


@BOTH
def test_nothing_outlives_a_program_that_ends(kind: Callable[[], Sandbox], tmp_path: Path) -> None:
    process = started(kind(), tmp_path, f"left_{kind.__name__}"[:15], end="os._exit(0)")
    assert process.wait(60) == 0
    until(lambda: not named(f"left_{kind.__name__}"[:15]), "the end of all")


@BOTH
def test_nothing_outlives_a_program_that_is_ended(kind: Callable[[], Sandbox], tmp_path: Path) -> None:
    name, sandbox = f"end_{kind.__name__}"[:15], kind()
    process = started(sandbox, tmp_path, name)
    until(lambda: len(named(name)) == PROCESSES, "the program and what it leaves", 60)
    sandbox.end(process)
    until(lambda: not named(name), "the end of all")


def test_nothing_outlives_a_worker_that_is_killed(tmp_path: Path) -> None:
    worker = f"""
        from pathlib import Path
        from tests.workers.runner.sandbox.test_guarded import guarded, started
        started(guarded(), Path({str(tmp_path)!r}), "orphan_guarded")
    """
    with killed_worker(worker):
        until(lambda: len(named("orphan_guarded")) == PROCESSES, "the program and what it leaves", 60)
    until(lambda: not named("orphan_guarded"), "the end of all")


FILLS = {
    "one large file": "open('large', 'wb').write(bytes(24 << 20))",
    "very many files": "[open(str(number), 'w').close() for number in range(5000)]",
    "folders without end": "[(os.mkdir('deeper'), os.chdir('deeper')) for _ in range(3000)]",
}


@pytest.mark.parametrize("way", FILLS)
def test_a_program_that_fills_its_folder_is_ended(way: str, tmp_path: Path) -> None:
    """It is looked at once a second, with or without walls; what says why is the last that it prints."""
    sandbox = Unconfined("for a test", SandboxLimits(temporary_bytes=16 << 20))
    program = f"import os, time; os.chdir(os.environ['HOME']); {FILLS[way]}; time.sleep(600)"
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    try:
        status, output = run_inside(sandbox, (PYTHON, "-c", program), scratch)
    finally:
        subprocess.run(["rm", "-rf", scratch], check=True)
    assert (status, output) == (-signal.SIGKILL, "ended: its files took more than 16 MiB\n")


WORKERS_OWN = """
    import json, os, signal, socket
    from pathlib import Path
    parent, secret, door = {parent}, {secret!r}, {door!r}
    def refused(function, *arguments):
        try:
            function(*arguments)
        except OSError as error:
            return error.errno
        return 0
    print(json.dumps([
        refused(open, secret), refused(open, secret, "a"), refused(os.listdir, os.path.dirname(secret)),
        refused(open, f"/proc/{{parent}}/environ"), refused(open, f"/proc/{{parent}}/mem"),
        refused(os.kill, parent, 0), refused(os.kill, os.getppid(), signal.SIGSTOP),
        refused(socket.socket), refused(socket.socket, socket.AF_UNIX), refused(os.chmod, door, 0o777),
    ]))
"""


def nobody() -> bool:
    return os.geteuid() != 0


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that any user of this machine may come to."""
    with open_folder() as found:
        yield found


@pytest.mark.parametrize("root", [True, False])
def test_what_is_the_workers_stays_the_workers(root: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a user of its own where the worker is root; else as the worker's user, whose files' modes are not held."""
    if root and nobody():
        return
    python = Path(PYTHON) if root or nobody() else reachable_python()
    if python is None:
        missing("no Python is installed for all users (apt-get install python3)")
    monkeypatch.setattr(sys, "executable", str(python))
    sandbox = guarded()
    scratch, secret = folder / "scratch", folder / "secret"
    scratch.mkdir()
    scratch.chmod(0o777)
    secret.write_text("of the worker")
    secret.chmod(0o666)
    if not root and not nobody():
        os.chown(secret, NOBODY, -1)  # to be the worker's, who is nobody here
    program = textwrap.dedent(WORKERS_OWN.format(parent=os.getpid(), secret=str(secret), door=str(secret)))
    with nullcontext() if root or nobody() else as_nobody():
        _, output = run_inside(sandbox, (str(python), "-c", program), scratch)
    *refusals, mode = json.loads(output)
    assert 0 not in refusals
    assert (mode != 0) is root
