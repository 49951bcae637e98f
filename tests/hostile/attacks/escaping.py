"""Leaves by the kernel: namespaces, mounts, devices, programs with rights, handles, its instruments and settings."""

from __future__ import annotations

import os
import stat
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.hostile.attacks.tries import FACTS, LIBC, Tries, call, checked

NEW_USER, NEW_NET, NEW_NS = 0x1000_0000, 0x4000_0000, 0x0002_0000
SIGCHLD = 17


class TestEscaping(unittest.TestCase):
    def test_calls(self) -> None:
        tries = Tries()
        calls: dict[str, tuple[int | bytes, ...]] = {
            "unshare": (NEW_USER,), "mount": (b"none", b"/tmp", b"tmpfs", 0, 0), "chroot": (b"/tmp",),
            "pivot_root": (b"/tmp", b"/tmp"), "open_tree": (-100, b"/", 1), "fsopen": (b"tmpfs", 0), "bpf": (0, 0, 0),
            "move_mount": (-1, b"", -1, b"", 0), "keyctl": (0, -3, 1), "io_uring_setup": (1, 0), "userfaultfd": (1,),
            "add_key": (b"user", b"hostile", b"x", 1, -3), "perf_event_open": (0, 0, -1, -1, 0), "ptrace": (0, 0, 0, 0),
            "swapoff": (b"/nothing",), "sethostname": (b"hostile", 7), "acct": (b"/tmp/hostile_left",),
            # What these would do needs more than this; asked by one without the right, the kernel says no first.
            "reboot": (0, 0, 0, 0), "init_module": (0, 0, b""), "kexec_load": (0, 0, 0, 0),
        }  # fmt: skip
        for name, arguments in calls.items():
            tries.must_find_nothing(name, _answered, name, *arguments)
        for flag in (NEW_USER, NEW_NET, NEW_NS, NEW_USER | NEW_NS):
            tries.must_fail(f"clone {flag:x}", _cloned, flag)
        tries.must_fail("clone3", call, "clone3", 0, 0)
        for request in (0x5412, 0x541C):
            tries.must_fail(f"type {request:x}", lambda request=request: checked(LIBC.ioctl(0, request, b"x")))
        tries.report()

    def test_namespaces(self) -> None:
        tries = Tries()
        for pid in ("1", *map(str, FACTS["pids"])):
            for name in ("net", "mnt", "pid", "user"):
                tries.must_fail(f"{pid} {name}", _joined, f"/proc/{pid}/ns/{name}")
        tries.report()

    def test_rights(self) -> None:
        tries = Tries()
        status = dict(line.split(":\t") for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
        tries.note("user", os.getuid())
        tries.note("new privileges", status["NoNewPrivs"])
        tries.note("capabilities", {kind: status[kind] for kind in ("CapEff", "CapPrm", "CapAmb", "CapBnd")})
        tries.note("filter", status["Seccomp"])
        tries.must_fail("become root", os.setuid, 0 if os.getuid() else 1)
        tries.must_fail("groups", os.setgroups, [0])
        for program in ("su", "passwd", "mount", "umount", "sudo", "newgrp"):
            tries.must_find_nothing(f"by {program}", _as_root, program)
        tries.must_find_nothing("a program of one's own", _own_program)
        tries.report()

    def test_devices(self) -> None:
        tries = Tries()
        folder = Path(tempfile.mkdtemp())
        for name, mode, device in (("disk", stat.S_IFBLK, FACTS["disk"]), ("memory", stat.S_IFCHR, os.makedev(1, 1))):
            tries.must_fail(
                f"make {name}", lambda name=name, mode=mode, device=device: _made(folder / name, mode, device)
            )
        for name in ("mem", "kmsg", "vda", "sda", "nvme0n1", "fuse", "kvm", "loop0", "net/tun", "uinput", "vsock"):
            tries.must_fail(f"/dev/{name}", _opened, f"/dev/{name}", os.O_RDONLY | os.O_NONBLOCK)
        for name in ("core_pattern", "modprobe", "hostname", "randomize_va_space"):
            tries.must_fail(f"kernel {name}", _opened, f"/proc/sys/kernel/{name}", os.O_WRONLY)
        for path in ("/proc/sysrq-trigger", "/proc/sys/vm/overcommit_memory", "/sys/kernel/uevent_helper"):
            tries.must_fail(path, _opened, path, os.O_WRONLY)
        for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"):
            tries.must_fail(f"group {path}", _group, Path(path, "hostile_left"))
        tries.report()


def _answered(name: str, *arguments: int | bytes) -> bool:
    """Whether the kernel did it, or would do it for somebody who asks properly."""
    try:
        call(name, *arguments)
    except PermissionError:
        return False
    except OSError as error:
        return error.errno not in {1, 13, 38}
    return True


def _cloned(flag: int) -> None:
    if call("clone", flag | SIGCHLD, 0, 0, 0, 0) == 0:
        os._exit(0)


def _joined(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        call("setns", handle, 0)
    finally:
        os.close(handle)


def _as_root(program: str) -> bool:
    """Whether a program that changes its user runs as another one here."""
    found = next((Path(folder, program) for folder in ("/usr/bin", "/bin") if Path(folder, program).exists()), None)
    if found is None:
        return False
    copy = subprocess.Popen([found, "--help"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.PIPE)
    users = Path(f"/proc/{copy.pid}/status").read_text().split("Uid:\t")[1].split("\n")[0].split()
    copy.communicate()
    return set(users) != {str(os.getuid())}


def _own_program() -> bool:
    """A copy of a program that says it runs as its owner changes nobody's rights."""
    copy = Path(tempfile.mkdtemp()) / "id"
    copy.write_bytes(Path("/usr/bin/id").read_bytes())
    copy.chmod(0o6755)
    return subprocess.run([copy, "-u"], capture_output=True, check=False).stdout.strip() == b"0"


def _made(path: Path, mode: int, device: int) -> None:
    os.mknod(path, mode | 0o666, device)
    os.close(os.open(path, os.O_RDONLY))


def _opened(path: str, flags: int) -> None:
    os.close(os.open(path, flags))


def _group(folder: Path) -> None:
    folder.mkdir()
    folder.rmdir()
