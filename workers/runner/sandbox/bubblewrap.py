"""The wall: namespaces and a new root by bubblewrap, resource limits, a system call filter, a user without rights.

Test code sees no network, none of the machine's processes and few of its files, and writes to bounded memory only.
Not held: the sum of memory over processes (limits are per process), faults of the kernel, and other code in the same
launch. Nothing here knows of tests.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from contextlib import ExitStack, suppress
from pathlib import Path

from workers.runner.sandbox.identity import Identity, new_identity
from workers.runner.sandbox.launch import Launch, SandboxLimits
from workers.runner.sandbox.mounts import SHARED_MEMORY, TEMPORARY, Mounts, outermost, require_open

_HOST = "sandbox"
#: What `setpriv` needs to step down from root. It leaves none of them to the program.
_STEP_DOWN_CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP")


class Bubblewrap:
    """Starts programs by the `bwrap` at `program`. `syscall_filter` is empty where none can be made; `problem` says so
    then."""

    name = "bubblewrap"
    keeps_files = True

    def __init__(self, program: Path, syscall_filter: bytes, limits: SandboxLimits, problem: str = "") -> None:
        self._program = program
        self._filter = syscall_filter
        self._limits = limits
        self.problem = problem

    def temporary_root(self, scratch: Path) -> Path:
        """The same for every launch: each has a /tmp of its own, in memory, gone with its last process."""
        return TEMPORARY

    def private(self, scratch: Path) -> tuple[Path, ...]:
        return (self.temporary_root(scratch), SHARED_MEMORY)

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        """The process that is returned stands outside and reports the program's exit (128 + the number of a signal).
        When it is killed, the kernel kills everything inside at once.

        Raises OSError when a path is missing or may not be read, and ValueError for a path that cannot be shown.
        """
        identity = new_identity()
        readable, writable = outermost(launch.readable), outermost(launch.writable)
        require_open(readable, to_all=not identity.namespaced)
        require_open(writable, to_all=not identity.namespaced, write=True)
        root = str(self.temporary_root(launch.scratch))
        output = subprocess.DEVNULL if launch.output is None else launch.output
        with ExitStack() as after:
            files: list[int] = []

            def content(data: bytes) -> int:
                files.append(_memory_file(data))
                after.callback(os.close, files[-1])
                return files[-1]

            words = [str(self._program), *_walls(identity)]
            if self._filter:
                words += ["--seccomp", str(content(self._filter))]
            mounts = Mounts()
            mounts.system(self._limits.temporary_bytes)
            for name, text in _accounts(identity).items():
                mounts.file(Path("/etc", name), content(text.encode()))
            for path in readable:
                mounts.read_only(path)
            for path in writable:
                mounts.writable(path)
            mounts.seal()
            words += [*mounts.words, "--chdir", str(launch.directory), "--"]
            return subprocess.Popen(
                [*words, *self._bounds(identity), *identity.step_down(), *launch.argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=launch.environment | {"HOME": root, "TMPDIR": root},
                cwd="/",
                pass_fds=(*launch.inherited, *files),
                start_new_session=True,
            )

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """The kernel ends what is inside with the first process of it."""
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _bounds(self, identity: Identity) -> list[str]:
        """Inside, so that they count in the program's namespace and bind neither bubblewrap nor the worker."""
        limits = self._limits
        return [
            shutil.which("prlimit") or "prlimit",
            f"--nproc={limits.processes + identity.processes_elsewhere()}",
            f"--fsize={limits.file_bytes}",
            f"--as={limits.address_space_bytes}",
            f"--nofile={limits.descriptors}",
            "--core=0",
            "--",
        ]


def _walls(identity: Identity) -> list[str]:
    # `--unshare-all` would take a user namespace even as root, and there the bound on processes does not hold.
    if identity.namespaced:
        namespaces = ["--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"]
    else:
        namespaces = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        namespaces += ["--cap-drop", "ALL"]
        namespaces += [word for name in _STEP_DOWN_CAPABILITIES for word in ("--cap-add", name)]
    return [*namespaces, "--die-with-parent", "--new-session", "--hostname", _HOST]


def _accounts(identity: Identity) -> dict[str, str]:
    """The files of /etc that name users and hosts; the machine's own stay unseen."""
    user, group = identity.user, identity.group
    return {
        "passwd": f"root:x:0:0:root:/:/usr/sbin/nologin\n{_HOST}:x:{user}:{group}:{_HOST}:{TEMPORARY}:/bin/sh\n",
        "group": f"root:x:0:\n{_HOST}:x:{group}:\n",
        "hosts": f"127.0.0.1 localhost {_HOST}\n::1 localhost {_HOST}\n",
    }


def _memory_file(data: bytes) -> int:
    descriptor = os.memfd_create("sandbox")
    os.write(descriptor, data)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
