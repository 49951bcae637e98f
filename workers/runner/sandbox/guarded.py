"""Without bubblewrap: programs under a guard, which ends all that descends from them, behind what walls there are.

`Guarded` has the kernel's Landlock and a system call filter: no file but those of the launch, no network, and as root
a user of its own. `Unconfined` has none of that. Not held by either: room on the disk until the guard looks, files
without a name, and the sight of other processes.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from workers.runner.sandbox import guard
from workers.runner.sandbox.identity import Identity, new_identity
from workers.runner.sandbox.launch import Launch, SandboxLimits

#: What every program reads beside the launch's own: libraries, its processes, who users are, the processors.
_SHOWN = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/proc", "/sys/devices/system/cpu"),
    *("/etc/ld.so.cache", "/etc/alternatives", "/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/localtime"),
    *("/dev/urandom", "/dev/random", "/dev/zero", "/dev/full"),
)
#: The machine's; what is in it is of the launch's user alone, where that has one.
_SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - the one that is looked after
_CHANGED = ("/dev/null", str(_SHARED_MEMORY))
#: The guard hunts a few seconds for what a program has left.
_END_S = 8.0
#: From this version on Landlock holds every way to change what is in a file.
KEEPS_FILES = 3
#: From this one on it holds signals.
KEEPS_SIGNALS = 6


class _UnderGuard:
    """What both have in common. `problem` says why there is no more."""

    name = "none"
    keeps_files = False

    def __init__(self, problem: str, limits: SandboxLimits) -> None:
        self.problem = problem
        self._limits = limits

    def temporary_root(self, scratch: Path) -> Path:
        return scratch

    def private(self, scratch: Path) -> tuple[Path, ...]:
        return (scratch,)

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """Have the guard end everything; one that does not answer is ended with its group."""
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def _start(self, launch: Launch, order: guard.Order, **own: str) -> subprocess.Popen[bytes]:
        root = str(self.temporary_root(launch.scratch))
        environment = launch.environment | own | {"HOME": root, "TMPDIR": root}
        if shutil.which(launch.argv[0], path=environment.get("PATH", os.defpath)) is None:
            raise FileNotFoundError(f"there is no program {launch.argv[0]}")
        output = subprocess.DEVNULL if launch.output is None else launch.output
        told = order.dump()
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", guard.__file__, str(told), *launch.argv],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment,
                cwd="/",
                pass_fds=(*launch.inherited, told),
                start_new_session=True,
            )
        finally:
            os.close(told)

    def _order(self, launch: Launch, identity: Identity, *, landlock: int = 0, calls: bytes = b"") -> guard.Order:
        return guard.Order(
            parent=os.getpid(),
            directory=str(launch.directory),
            readable=_existing((*_SHOWN, *map(str, launch.readable))),
            writable=_existing((*_CHANGED, *map(str, (launch.scratch, *launch.writable)))),
            landlock=landlock,
            filter=b64encode(calls).decode(),
            user=0 if identity.namespaced else identity.user,
            group=0 if identity.namespaced else identity.group,
            processes=self._limits.processes + identity.processes_elsewhere(),
            file_bytes=self._limits.file_bytes,
            address_space_bytes=self._limits.address_space_bytes,
            descriptors=self._limits.descriptors,
            temporary=str(launch.scratch),
            temporary_bytes=self._limits.temporary_bytes,
        )


class Unconfined(_UnderGuard):
    """Programs run as the worker's own user, with its network and its files: holds honest accidents, not malice."""

    def __init__(self, problem: str, limits: SandboxLimits = SandboxLimits()) -> None:  # noqa: B008 - frozen
        super().__init__(problem, limits)

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        same = Identity(os.geteuid(), os.getegid(), namespaced=True)
        return self._start(launch, self._order(launch, same))


class Guarded(_UnderGuard):
    """Behind Landlock of `version` and the system call filter `calls` (`landlock(7)`, `seccomp(2)`)."""

    name = "landlock"

    def __init__(self, problem: str, limits: SandboxLimits, version: int, calls: bytes) -> None:
        super().__init__(problem, limits)
        self._version, self._calls = version, calls
        #: A file's mode and times are held by its owner being another user, and by nothing else.
        self.keeps_files = version >= KEEPS_FILES and os.geteuid() == 0

    def private(self, scratch: Path) -> tuple[Path, ...]:
        """Whose user is its own has what it puts into shared memory for itself."""
        return (scratch, _SHARED_MEMORY) if os.geteuid() == 0 else (scratch,)

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        identity = new_identity()
        if not identity.namespaced:
            os.chown(launch.scratch, identity.user, identity.group)
        order = self._order(launch, identity, landlock=self._version, calls=self._calls)
        # Programs ask for the name of their user, which has none here.
        return self._start(launch, order, USER="sandbox", LOGNAME="sandbox")


def _existing(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(path for path in dict.fromkeys(paths) if Path(path).exists())
