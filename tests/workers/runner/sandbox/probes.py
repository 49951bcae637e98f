"""Sixteen attempts to get out of a sandbox or to use it up. Copied beside a `facts.json` and run inside, as a test file
or as a program: `python probes.py NAME...` writes one JSON line per probe, with why it failed or an empty text.

Standard library only, so that any Python can run it; the device is imported by its own probe.
"""

from __future__ import annotations

import ctypes
import errno
import json
import mmap
import os
import signal
import socket
import sys
import time
import unittest
from collections.abc import Callable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = json.loads(Path(__file__).with_name("facts.json").read_text())
LIBC = ctypes.CDLL(None, use_errno=True)
NEW_USER_NAMESPACE = 0x1000_0000
MIB = 1 << 20


class TestProbes(unittest.TestCase):
    """Facts: `port` (somebody listens on loopback outside), `host_file`, `host_pid`, `library` (the device's)."""

    def test_network(self) -> None:
        for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET):
            assert self._error(socket.socket, family, socket.SOCK_STREAM) in (errno.EAFNOSUPPORT, errno.EPERM)
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", FACTS["port"]), timeout=1).close()
            self.fail("a server outside was reached")
        assert self._error(socket.getaddrinfo, "elsewhere.example", 80) != 0

    def test_interfaces(self) -> None:
        names = [line.partition(":")[0].strip() for line in Path("/proc/net/dev").read_text().splitlines()[2:]]
        assert names == ["lo"]
        assert not Path("/sys/class/net").exists()

    def test_environment_secrets(self) -> None:
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                assert b"RELAY_" not in (folder / "environ").read_bytes(), folder
        assert [name for name in os.environ if name.startswith("RELAY_")] == []

    def test_read_only_checkout(self) -> None:
        here = Path(__file__).parent
        assert self._error((here / "left_behind").touch) in (errno.EROFS,)
        assert self._error(Path(__file__).write_text, "") in (errno.EROFS,)
        assert self._error(Path(__file__).unlink) in (errno.EROFS,)

    def test_read_only_environment(self) -> None:
        for prefix in (sys.prefix, sys.base_prefix, "/usr", "/etc"):
            assert self._error(Path(prefix, "left_behind").touch) in (errno.EROFS, errno.EACCES)

    def test_host_files(self) -> None:
        unseen = (FACTS["host_file"], "/etc/shadow", "/etc/hostname", "/var/lib", "/home", "/proc/1/root/etc/shadow")
        for path in unseen:
            with suppress(PermissionError):
                assert not Path(path).exists(), path
        assert "/bin/bash" not in Path("/etc/passwd").read_text()
        assert list(Path("/tmp").glob("pytest*")) == []  # noqa: S108 -- the sandbox's own

    def test_visible_pids(self) -> None:
        seen = [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]
        assert len(seen) < 10
        assert max(seen) < 2000
        assert self._error(os.kill, FACTS["host_pid"], 0) in (errno.ESRCH, errno.EPERM)

    def test_uid(self) -> None:
        assert 0 not in (*os.getresuid(), *os.getresgid(), *os.getgroups())
        assert self._error(os.setuid, 0) in (errno.EPERM, errno.EINVAL)
        assert self._error(os.setgid, 0) in (errno.EPERM, errno.EINVAL)

    def test_capabilities(self) -> None:
        lines = Path("/proc/self/status").read_text().splitlines()
        status = {key: value.strip() for key, _, value in (line.partition(":") for line in lines)}
        for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
            assert int(status[name], 16) == 0, name
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")

    def test_new_user_namespaces(self) -> None:
        assert self._call("unshare", NEW_USER_NAMESPACE) == errno.EPERM
        assert self._call("syscall", _number("clone"), NEW_USER_NAMESPACE | signal.SIGCHLD, 0, 0, 0, 0) == 1
        assert self._call("syscall", _number("clone3"), 0, 0) == errno.ENOSYS
        assert self._call("mount", b"none", b"/tmp", b"tmpfs", 0, 0) == errno.EPERM

    def test_tmp_quota(self) -> None:
        for folder in ("/tmp", "/dev/shm"):  # noqa: S108 -- the sandbox's own
            assert self._fill(Path(folder, "large")) <= 512 * MIB
        for folder in ("/", "/dev", "/var", "/run", "/opt"):
            assert self._error(Path(folder, "large").touch) in (errno.EROFS, errno.EACCES, errno.ENOENT), folder

    def test_allocation(self) -> None:
        assert self._error(mmap.mmap, -1, 32 << 30) == errno.ENOMEM

    def test_fork_bomb(self) -> None:
        children: list[int] = []
        try:
            while len(children) < 600:
                if (child := os.fork()) == 0:
                    signal.pause()
                    os._exit(0)
                children.append(child)
        except BlockingIOError:
            pass
        finally:
            for child in children:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        assert len(children) < 256

    def test_daemon(self) -> None:
        """A process that leaves the session and its parent comes to life; outside nothing of it may stay."""
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            os.setsid()
            if os.fork() == 0:
                os.write(writing, b"up")
                LIBC.prctl(15, b"left_behind", 0, 0, 0)
                for descriptor in range(3):
                    os.close(descriptor)
                while True:
                    time.sleep(60)
            os._exit(0)
        os.waitpid(child, 0)
        assert os.read(reading, 2) == b"up"

    def test_ptrace(self) -> None:
        assert self._call("ptrace", 0, 0, 0, 0) == errno.EPERM
        assert self._call("process_vm_readv", os.getpid(), 0, 0, 0, 0, 0) == errno.EPERM
        for name in ("perf_event_open", "bpf", "keyctl", "io_uring_setup"):
            assert self._call("syscall", _number(name), 0, 0, 0, 0, 0) == errno.EPERM, name
        for request in (0x5412, 0x541C):  # typing into the worker's terminal
            assert self._call("ioctl", 0, request, b"x") == errno.EPERM, request

    def test_device(self) -> None:
        import torch

        tensor = torch.arange(6, dtype=torch.float32).to("spyre")
        assert tensor.device.type == "spyre"
        assert (tensor + tensor).cpu().tolist() == [0, 2, 4, 6, 8, 10]

    def _error(self, function: Callable[..., object], *arguments: object) -> int:
        """The error number of what must not work."""
        try:
            function(*arguments)
        except OSError as error:
            return error.errno or 0
        raise AssertionError(f"{function} worked with {arguments}")

    def _call(self, name: str, *arguments: int | bytes) -> int:
        """The error number of a call of the C library that must fail."""
        ctypes.set_errno(0)
        words = [word if isinstance(word, bytes) else ctypes.c_long(word) for word in arguments]
        result = getattr(LIBC, name)(*words)
        if result == 0 and name == "syscall" and arguments[0] == _number("clone"):
            os._exit(0)
        assert result == -1, name
        return ctypes.get_errno()

    def _fill(self, path: Path) -> int:
        """How many bytes a file took until there was no room."""
        with path.open("wb", buffering=0) as file:
            assert self._error(self._write, file) == errno.ENOSPC
        size = path.stat().st_size
        path.unlink()
        return size

    def _write(self, file: FileIO) -> None:
        block = bytes(4 * MIB)
        while file.tell() < 1024 * MIB:
            file.write(block)


def _number(name: str) -> int:
    """System call numbers of this machine: those above 400 are the same everywhere."""
    x86 = {"clone": 56, "perf_event_open": 298, "bpf": 321, "keyctl": 250}
    common = {"clone": 220, "perf_event_open": 241, "bpf": 280, "keyctl": 219}
    newer = {"clone3": 435, "io_uring_setup": 425}
    return ((x86 if os.uname().machine == "x86_64" else common) | newer)[name]


def main(names: list[str]) -> None:
    for name in names:
        result = unittest.TestResult()
        TestProbes(f"test_{name}").run(result)
        problems = [text for _, text in (*result.failures, *result.errors)]
        print(json.dumps({"probe": name, "problem": "\n".join(problems)}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
