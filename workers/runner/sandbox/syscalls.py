"""The system calls test code is refused: ways to other processes, to the kernel's rarer parts, and to any network.

Made with libseccomp and given to bubblewrap as a program for the kernel (`seccomp(2)`, `seccomp_export_bpf(3)`).
Calls of another architecture than the machine's own end the process, which is libseccomp's default.
"""

from __future__ import annotations

import errno
import os
import socket
from functools import cache
from typing import Any

#: Answered with EPERM, whatever the arguments are.
REFUSED = (
    # other processes
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "pidfd_getfd",
    "kcmp",
    # the kernel's instruments and its key rings, which are not namespaced
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "add_key",
    "keyctl",
    "request_key",
    # what is mounted where
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    # new and other namespaces
    "unshare",
    "setns",
    # files by their number, past every mount
    "open_by_handle_at",
    # a second way to make most system calls, which a filter does not see
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
)
#: `clone(2)`: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET.
_NAMESPACES = (0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000)
#: Ways to type into the terminal the worker was started from: `ioctl_tty(2)`, TIOCSTI and TIOCLINUX.
_TERMINAL = (0x5412, 0x541C)
_UNKNOWN = -1


class NoFilterError(Exception):
    """No filter can be made on this machine; the message says why and what to do."""


@cache
def filter_program(*, pairs_only: bool = False) -> bytes:
    """The filter as bubblewrap's `--seccomp` takes it. Built once per process. With `pairs_only` there are no sockets
    but pairs, where a path leads to the machine's own, and no process changes another one's limits.

    Raises:
        NoFilterError: when libseccomp or its binding is missing, or too old to know a call.
    """
    seccomp = _binding()
    rules = seccomp.SyscallFilter(defaction=seccomp.ALLOW)
    refuse = seccomp.ERRNO(errno.EPERM)
    for name in REFUSED:
        rules.add_rule(refuse, _number(seccomp, name))
    # Its flags lie in memory, where no filter can look; the C library falls back to clone.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), _number(seccomp, "clone3"))
    # Files in memory that no limit of room counts; those who would like one have another way.
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), _number(seccomp, "memfd_create"))
    for flag in _NAMESPACES:
        rules.add_rule(refuse, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    for request in _TERMINAL:
        rules.add_rule(refuse, "ioctl", seccomp.Arg(1, seccomp.MASKED_EQ, 0xFFFF_FFFF, request))
    for name in ("socket", "socketpair"):
        rules.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), name, seccomp.Arg(0, seccomp.NE, int(socket.AF_UNIX)))
    if pairs_only:
        rules.add_rule(seccomp.ERRNO(errno.EAFNOSUPPORT), "socket", seccomp.Arg(0, seccomp.EQ, int(socket.AF_UNIX)))
        rules.add_rule(refuse, "prlimit64", seccomp.Arg(0, seccomp.NE, 0))
    return _exported(rules)


def _binding() -> Any:
    try:
        import pyseccomp  # noqa: PLC0415 -- it looks for the C library when it is imported, and fails without
    except ImportError as error:
        raise NoFilterError("pyseccomp is not installed. Install it: pip install 'oot-relay[emulator]'") from error
    except RuntimeError as error:
        raise NoFilterError("libseccomp is not installed. Install it: apt-get install libseccomp2") from error
    return pyseccomp


def _number(seccomp: Any, name: str) -> int:
    number: int = seccomp.resolve_syscall(seccomp.Arch.NATIVE, name)
    if number == _UNKNOWN:
        raise NoFilterError(
            f"libseccomp is too old to know the system call {name}. Upgrade libseccomp2 to 2.5 or newer"
        )
    return number


def _exported(rules: Any) -> bytes:
    with open(os.memfd_create("filter"), "w+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
