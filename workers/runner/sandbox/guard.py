"""The program between a worker and one it starts without bubblewrap: `python -I -S guard.py DESCRIPTOR PROGRAM...`.

It shuts the program in as far as the kernel lets it (Landlock, a system call filter, a user of its own, limits), and
ends everything that descends from it: when it ends, when it has taken more room for files than it may, when the guard
is told to (SIGTERM), and when the worker is gone.
Standard library alone, because it runs as a program of its own; the worker takes `Order` and `landlock_version` from
here.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import shutil
import signal
import struct
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

_LIBC = ctypes.CDLL(None, use_errno=True)
#: `prctl(2)`.
_PDEATHSIG, _DUMPABLE, _KEEPCAPS, _SECCOMP = 1, 4, 8, 22
_CAPBSET_DROP, _SUBREAPER, _NO_NEW_PRIVS, _AMBIENT = 24, 36, 38, 47
_CAPABILITIES = 64
_DAC_READ_SEARCH = 2
#: `landlock(7)`: system calls with the same numbers everywhere, and rights to files by the version they came with.
_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_ON_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
_READ = 1 << 0 | 1 << 2 | 1 << 3
_NET, _NET_VERSION = 0b11, 4
_SCOPES, _SCOPE_VERSION = 0b11, 6
_HUNT_S = 5.0
#: How often the room that files take is looked at; and what a file takes at least.
_LOOK_S = 1.0
_BLOCK = 4096
_PAUSE_S = 0.005
_CANNOT_START = 127


@dataclass(frozen=True, slots=True)
class Order:
    """What to hold the program to. `readable` and `writable` are paths; with `landlock` 0 it sees all files. `filter`
    is a system call filter in base64, or empty. `user` 0 stays who the worker is, without its capabilities.
    `temporary_bytes` is for all that is in `temporary`. Sizes in bytes."""

    parent: int
    directory: str
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    landlock: int
    filter: str
    user: int
    group: int
    processes: int
    file_bytes: int
    address_space_bytes: int
    descriptors: int
    temporary: str
    temporary_bytes: int

    def dump(self) -> int:
        """A new descriptor to read it from, to be closed by the caller."""
        descriptor = os.memfd_create("order")
        os.write(descriptor, json.dumps(asdict(self)).encode())
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    @classmethod
    def load(cls, descriptor: int) -> Order:
        with os.fdopen(descriptor, "rb") as source:
            return cls(**json.load(source))


def landlock_version() -> int:
    """What this kernel has of Landlock; 0 for nothing."""
    return max(0, int(_LIBC.syscall(_CREATE, None, ctypes.c_size_t(0), 1)))


def main() -> NoReturn:
    order = Order.load(int(sys.argv[1]))
    watched = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    signal.pthread_sigmask(signal.SIG_BLOCK, watched)
    _prctl(_PDEATHSIG, signal.SIGTERM)
    _prctl(_SUBREAPER, 1)
    if os.getppid() != order.parent:
        os._exit(_CANNOT_START)
    program = os.fork()
    if program == 0:
        _become(order, sys.argv[2:], watched)
    _prctl(_DUMPABLE, 0)
    # Nobody may wait for the end of a pipe that only the guard holds.
    os.close(1)
    os.closerange(3, 1 << 16)
    status = _watch(program, order, watched)
    _hunt(order)
    _leave(status)


def _watch(program: int, order: Order, watched: set[signal.Signals]) -> int:
    """The wait status of the program; that of a killed one when its end was asked for, or was due."""
    looked = time.monotonic()
    while True:
        told = signal.sigtimedwait(watched, _LOOK_S)
        if told is not None and told.si_signo != signal.SIGCHLD:
            return int(signal.SIGKILL)
        for pid, status in _reaped():
            if pid == program:
                return status
        if time.monotonic() - looked >= _LOOK_S:
            if _is_overfull(order):
                os.write(2, f"ended: its files took more than {order.temporary_bytes >> 20} MiB\n".encode())
                return int(signal.SIGKILL)
            looked = time.monotonic()


def _is_overfull(order: Order) -> bool:
    """Whether files take more room than they may, or lie so deep in folders that nobody can tell."""
    left = order.temporary_bytes
    try:
        for place, folders, files in os.walk(order.temporary, onerror=_raise_when_deep):
            for name in (*folders, *files):
                with suppress(OSError):
                    left -= max(_BLOCK, os.lstat(os.path.join(place, name)).st_blocks * 512)
            if left < 0:
                return True
    except (RecursionError, OSError):
        return True
    return False


def _raise_when_deep(error: OSError) -> None:
    """A folder may be closed, or gone by now."""
    if error.errno == errno.ENAMETOOLONG:
        raise error


def _hunt(order: Order) -> None:
    """End all that descends from here. What forks while it is looked for is found the next time; as a user of its own
    it is ended at one blow."""
    deadline = time.monotonic() + _HUNT_S
    while time.monotonic() < deadline:
        if order.user:
            _end_user(order.user)
        for pid in _descendants(os.getpid()):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for _ in _reaped():
            pass
        if not list(_descendants(os.getpid())):
            break
        time.sleep(_PAUSE_S)
    if order.user:
        _clear_shared_memory(order.user)


def _end_user(user: int) -> None:
    if (killer := os.fork()) == 0:
        with suppress(OSError):
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)
        os._exit(0)
    with suppress(ChildProcessError):
        os.waitpid(killer, 0)


def _clear_shared_memory(user: int) -> None:
    """Of a user that nobody else is, whatever is left is nobody's."""
    with suppress(OSError):
        for path in Path("/dev/shm").iterdir():  # noqa: S108 - the machine's
            if path.lstat().st_uid == user:
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() and not path.is_symlink() else path.unlink()


def _leave(status: int) -> NoReturn:
    """End as the program did."""
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {-code})
        os.kill(os.getpid(), -code)
    os._exit(code if code >= 0 else 128 - code)


def _reaped() -> Iterator[tuple[int, int]]:
    with suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            yield found


def _descendants(pid: int) -> Iterator[int]:
    """Children first: those of a killed process become ours."""
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            for child in map(int, Path(f"/proc/{pid}/task/{task}/children").read_text().split()):
                yield child
                yield from _descendants(child)


def _become(order: Order, argv: list[str], watched: set[signal.Signals]) -> NoReturn:
    """Shut this process in, then run the program in it."""
    try:
        os.chdir(order.directory)
        # When memory runs out, the kernel takes the test and not the worker. As root for good.
        with suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text("1000")
        limits = {
            resource.RLIMIT_NPROC: order.processes,
            resource.RLIMIT_FSIZE: order.file_bytes,
            resource.RLIMIT_AS: order.address_space_bytes,
            resource.RLIMIT_NOFILE: order.descriptors,
            resource.RLIMIT_CORE: 0,
        }
        for kind, wanted in limits.items():
            _, hard = resource.getrlimit(kind)
            value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(kind, (value, value))
        _step_down(order)
        _check(_prctl(_NO_NEW_PRIVS, 1))
        if order.landlock:
            _restrict(order)
        _check(_prctl(_PDEATHSIG, signal.SIGKILL))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, watched)
        if order.filter:
            _filter(b64decode(order.filter))
        os.execvp(argv[0], argv)  # noqa: S606 - without a shell is what is wanted
    except OSError as error:
        os.write(2, f"{argv[0]} cannot be started: {error}\n".encode())
    os._exit(_CANNOT_START)


def _step_down(order: Order) -> None:
    """Give up every capability but, as a user of its own, the one to look for files; Landlock says which it finds."""
    if os.geteuid() != 0:
        return
    kept = 1 << _DAC_READ_SEARCH if order.user else 0
    for capability in range(_CAPABILITIES):
        if not kept >> capability & 1:
            _prctl(_CAPBSET_DROP, capability)
    if order.user:
        _check(_prctl(_KEEPCAPS, 1))
        os.setgroups([])
        os.setresgid(order.group, order.group, order.group)
        os.setresuid(order.user, order.user, order.user)
    # `capset(2)`, version 3: effective, permitted, inheritable, of the lower and the upper half.
    header, sets = struct.pack("<Ii", 0x2008_0522, 0), struct.pack("<6I", kept, kept, kept, 0, 0, 0)
    _check(_LIBC.capset(header, sets))
    if kept:
        _check(_prctl(_AMBIENT, 2, _DAC_READ_SEARCH))


def _restrict(order: Order) -> None:
    version = order.landlock
    handled = sum(rights for since, rights in _FILE_RIGHTS.items() if since <= version)
    fields = [handled]
    if version >= _NET_VERSION:
        fields.append(_NET)
    if version >= _SCOPE_VERSION:
        fields.append(_SCOPES)
    attributes = struct.pack(f"<{len(fields)}Q", *fields)
    ruleset = _check(_LIBC.syscall(_CREATE, attributes, ctypes.c_size_t(len(attributes)), 0))
    for paths, rights in ((order.readable, _READ), (order.writable, handled)):
        for path in paths:
            _allow(ruleset, path, rights & handled)
    _check(_LIBC.syscall(_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    target = os.open(path, os.O_PATH)
    try:
        if not os.path.isdir(path):
            rights &= _ON_FILES
        _check(_LIBC.syscall(_ADD_RULE, ruleset, 1, struct.pack("<Qi", rights, target), 0))
    finally:
        os.close(target)


def _filter(program: bytes) -> None:
    code = ctypes.create_string_buffer(program, len(program))
    line = struct.pack("HxxxxxxP" if struct.calcsize("P") == 8 else "HxxP", len(program) // 8, ctypes.addressof(code))
    _check(_LIBC.prctl(_SECCOMP, 2, line, 0, 0))


def _prctl(option: int, value: int, more: int = 0) -> int:
    return int(_LIBC.prctl(option, ctypes.c_ulong(value), ctypes.c_ulong(more), 0, 0))


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
