"""Programs in bubblewrap: what reaches them, what they are held to, and that nothing of them stays."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.waiting import until
from tests.workers.runner.sandbox.inside import killed_worker, named, run_inside
from workers.runner.sandbox import Launch, Sandbox, SandboxLimits, interpreter_folders

PYTHON = sys.executable
FOLDERS = interpreter_folders(Path(PYTHON))
#: Names itself, leaves a daemon in a session of its own, and goes on for ever.
RESTLESS = """
import ctypes, os, time
ctypes.CDLL(None).prctl(15, b"{name}", 0, 0, 0)
if os.fork() == 0:
    os.setsid()
while True:
    time.sleep(60)
"""


def restless(sandbox: Sandbox, folder: Path, name: str) -> subprocess.Popen[bytes]:
    """A program of two processes, both up."""
    argv = (PYTHON, "-c", RESTLESS.format(name=name))
    process = sandbox.start(Launch(argv, {}, folder, (*FOLDERS, folder), folder))
    until(lambda: len(named(name)) == 2)
    return process


def test_killing_the_process_ends_everything_inside(sandbox: Sandbox, checkout: Path) -> None:
    process = restless(sandbox, checkout, "killed_alone")
    process.kill()
    process.wait()
    until(lambda: not named("killed_alone"))


def test_killing_the_group_ends_everything_inside(sandbox: Sandbox, checkout: Path) -> None:
    process = restless(sandbox, checkout, "killed_as_group")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    until(lambda: not named("killed_as_group"))


def test_everything_inside_ends_with_the_worker(sandbox: Sandbox, checkout: Path) -> None:
    """However the worker ends: here it is killed."""
    worker = f"""
        from pathlib import Path
        from tests.workers.runner.sandbox.test_bubblewrap import restless
        from workers.runner.sandbox import find_sandbox
        restless(find_sandbox(), Path({str(checkout)!r}), "orphaned")
    """
    with killed_worker(worker):
        pass
    until(lambda: not named("orphaned"))


def test_descriptors_are_inherited_and_can_be_sent(sandbox: Sandbox, checkout: Path) -> None:
    """A pipe sent through an inherited socket is one the program can write to."""
    program = """
        import os, socket, sys
        link = socket.socket(fileno=int(sys.argv[1]))
        word, (descriptor,), _, _ = socket.recv_fds(link, 100, 1)
        os.write(descriptor, word.upper())
    """
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    reading, writing = os.pipe()
    with here, there:
        argv = (PYTHON, "-c", textwrap.dedent(program), str(there.fileno()))
        process = sandbox.start(Launch(argv, {}, checkout, (*FOLDERS, checkout), checkout, (there.fileno(),)))
        there.close()
        socket.send_fds(here, [b"hello"], [writing])
        os.close(writing)
        assert os.read(reading, 100) == b"HELLO"
        assert os.read(reading, 100) == b""  # nobody else holds it: bubblewrap keeps no descriptor
        assert here.recv(1) == b""
        assert process.wait(30) == 0
    os.close(reading)


def test_no_other_descriptor_is_open_inside(sandbox: Sandbox, checkout: Path) -> None:
    """Neither the system call filter nor the made-up files are left open for the program."""
    status, output = run_inside(
        sandbox, (PYTHON, "-c", "import os; print(sorted(map(int, os.listdir('/proc/self/fd'))))"), checkout
    )
    assert (status, output) == (0, "[0, 1, 2, 3]\n")  # the last one lists the folder


def test_exit_and_output_come_out(sandbox: Sandbox, checkout: Path) -> None:
    program = "import os, sys; print('printed'); print('told', file=sys.stderr); sys.exit(7)"
    status, output = run_inside(sandbox, (PYTHON, "-c", program), checkout)
    assert (status, sorted(output.splitlines())) == (7, ["printed", "told"])
    status, _ = run_inside(sandbox, (PYTHON, "-c", "import os; os.abort()"), checkout)
    assert status == 128 + signal.SIGABRT


def test_the_environment_is_what_the_launch_says(
    sandbox: Sandbox, checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With home and temporary files in the sandbox's own folder, and nothing of the worker's."""
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "of-the-worker")
    program = "import json, os; print(json.dumps(dict(os.environ)))"
    _, output = run_inside(sandbox, (PYTHON, "-c", program), checkout, WANTED="yes", LC_ALL="C.UTF-8")
    root = str(sandbox.temporary_root(checkout))
    wanted = {"PATH": os.defpath, "WANTED": "yes", "LC_ALL": "C.UTF-8", "HOME": root, "TMPDIR": root}
    assert json.loads(output) == wanted | {"PWD": str(checkout)}


def test_limits_cannot_be_raised(sandbox: Sandbox, checkout: Path) -> None:
    program = """
        import json, resource
        kinds = (resource.RLIMIT_FSIZE, resource.RLIMIT_AS, resource.RLIMIT_CORE)
        print(json.dumps([resource.getrlimit(kind) for kind in kinds]))
    """
    limits = SandboxLimits()
    _, output = run_inside(sandbox, (PYTHON, "-c", textwrap.dedent(program)), checkout)
    assert json.loads(output) == [[limits.file_bytes] * 2, [limits.address_space_bytes] * 2, [0, 0]]


def test_users_and_hosts_have_names(sandbox: Sandbox, checkout: Path) -> None:
    """Of the sandbox, not of the machine: upstream's tests ask for a user name."""
    program = "import getpass, os, socket; print(getpass.getuser(), os.uname().nodename, socket.gethostname())"
    _, output = run_inside(sandbox, (PYTHON, "-c", program), checkout)
    assert output == "sandbox sandbox sandbox\n"


def test_a_folder_shown_in_the_temporary_one_is_seen(sandbox: Sandbox, checkout: Path) -> None:
    """Temporary checkouts lie in /tmp on the machine, and /tmp inside is another one."""
    (checkout / "note").write_text("seen")
    program = f"print(open({str(checkout / 'note')!r}).read())"
    assert run_inside(sandbox, (PYTHON, "-c", program), checkout) == (0, "seen\n")


@pytest.mark.parametrize("path", ["/", "/etc", "/tmp", "/proc", "relative", "/usr/../etc"])  # noqa: S108 -- refused
def test_the_sandboxs_own_folders_cannot_be_replaced(sandbox: Sandbox, checkout: Path, path: str) -> None:
    with pytest.raises(ValueError, match="cannot be shown in a sandbox"):
        sandbox.start(Launch((PYTHON,), {}, checkout, (Path(path),), checkout))


def test_a_folder_that_does_not_exist_is_an_error(sandbox: Sandbox, checkout: Path) -> None:
    with pytest.raises(FileNotFoundError, match="absent"):
        sandbox.start(Launch((PYTHON,), {}, checkout, (checkout / "absent",), checkout))


def test_what_is_writable_is_changed_on_the_machine_and_nothing_else_is(sandbox: Sandbox, checkout: Path) -> None:
    output = checkout / "output"
    output.mkdir()
    output.chmod(0o777)
    script = "echo built > output/torch; echo other > beside"
    argv = ("/bin/sh", "-c", script)
    process = sandbox.start(Launch(argv, {}, checkout, (*FOLDERS, checkout), checkout, writable=(output,)))
    assert process.wait(60) != 0
    assert (output / "torch").read_text() == "built\n"
    assert sorted(path.name for path in checkout.iterdir()) == ["output"]
