"""Reads what the worker has: its environment, its memory, its files, its home, and those of other runs."""

from __future__ import annotations

import ctypes
import os
import shutil
import sqlite3
import struct
import sys
import tempfile
import unittest
from pathlib import Path

from tests.hostile.attacks.tries import (
    FACTS,
    LIBC,
    Tries,
    any_of,
    call,
    checked,
    holds_secret,
    secret_in,
    strangers,
    visible,
)

ATTACH, DETACH, SEIZE = 16, 17, 0x4206


class TestReading(unittest.TestCase):
    def test_environment(self) -> None:
        tries = Tries()
        own = "\0".join(f"{name}={value}" for name, value in os.environ.items()).encode()
        tries.must_find_nothing("own", holds_secret, own)
        tries.must_find_nothing("names", lambda: [name for name in os.environ if name.startswith("RELAY_")])
        tries.must_find_nothing("of the worker", any_of, lambda pid: secret_in(f"/proc/{pid}/environ"), FACTS["pids"])
        tries.must_find_nothing("of anybody", any_of, lambda pid: secret_in(f"/proc/{pid}/environ"), visible())
        tries.must_find_nothing("by thread", any_of, lambda p: secret_in(f"/proc/{p}/task/{p}/environ"), strangers())
        tries.must_find_nothing("of arguments", any_of, lambda pid: secret_in(f"/proc/{pid}/cmdline"), visible())
        tries.must_find_nothing("of the parents", any_of, lambda pid: secret_in(f"/proc/{pid}/environ"), parents())
        tries.report()

    def test_memory(self) -> None:
        tries = Tries()
        others = strangers()
        tries.must_find_nothing("mem", any_of, lambda pid: _opened(f"/proc/{pid}/mem"), others)
        tries.must_find_nothing("maps", any_of, lambda pid: Path(f"/proc/{pid}/maps").read_text(), others)
        tries.must_find_nothing("root", any_of, lambda pid: os.listdir(f"/proc/{pid}/root"), others)
        tries.must_find_nothing("cwd", any_of, lambda pid: os.listdir(f"/proc/{pid}/cwd"), others)
        tries.must_find_nothing("fd", any_of, _links, others)
        tries.must_find_nothing("attach", any_of, lambda pid: _traced(ATTACH, pid), others)
        tries.must_find_nothing("seize", any_of, lambda pid: _traced(SEIZE, pid), others)
        tries.must_find_nothing("vm", any_of, lambda pid: call("process_vm_readv", pid, 0, 0, 0, 0, 0) == 0, others)
        tries.must_find_nothing("pidfd", any_of, lambda pid: call("pidfd_getfd", os.pidfd_open(pid), 1, 0), others)
        tries.must_find_nothing("kcmp", any_of, lambda pid: call("kcmp", os.getpid(), pid, 0, 0, 0) >= 0, others)
        tries.report()

    def test_the_warm_parent(self) -> None:
        """It is of this launch, and what is changed in it would be in every test file that comes after this one."""
        tries = Tries()
        parent = os.getppid()
        for mode in ("rb", "r+b"):
            tries.must_fail(f"mem {mode}", lambda mode=mode: Path(f"/proc/{parent}/mem").open(mode).close())
        tries.must_find_nothing("fd", _links, parent)
        tries.must_fail("attach", _traced, ATTACH, parent)
        tries.must_fail("seize", _traced, SEIZE, parent)
        tries.must_fail("vm", call, "process_vm_writev", parent, 0, 0, 0, 0, 0)
        tries.must_fail("pidfd", lambda: call("pidfd_getfd", os.pidfd_open(parent), 3, 0))
        tries.report()

    def test_files(self) -> None:
        tries = Tries()
        for name, path in FACTS["secret_files"].items():
            tries.must_find_nothing(name, secret_in, path)
            tries.must_find_nothing(f"{name} by a process's root", secret_in, f"/proc/self/root{path}")
            tries.must_find_nothing(f"{name} by a link", _through, os.symlink, path)
            tries.must_find_nothing(f"{name} by a hard link", _through, os.link, path)
        for name in ("~/.ssh", "~/.netrc", "~/.cache/oot-relay", "~/.config"):
            tries.must_find_nothing(f"home {name}", lambda name=name: list(Path(name).expanduser().iterdir()))
        tries.must_find_nothing("root's home", lambda: os.listdir("/root/.ssh") + os.listdir("/root/.config"))
        tries.must_find_nothing("accounts", lambda: Path("/etc/shadow").read_bytes())
        tries.must_find_nothing("core files", lambda: any_of(secret_in, Path("/var/lib/systemd/coredump").iterdir()))
        tries.report()

    def test_other_runs(self) -> None:
        tries = Tries()
        for name, path in FACTS["folders"].items():
            tries.must_find_nothing(name, _more_than_its_own, path)
        tries.must_find_nothing("base results", _rows, FACTS["base_results"])
        tries.must_find_nothing("by handle", _by_handle)
        tries.report()


def parents() -> list[int]:
    found, pid = [], os.getpid()
    while pid > 1:
        status = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        pid = int(status[1])
        found.append(pid)
    return found


def _traced(request: int, pid: int) -> bool:
    checked(LIBC.ptrace(ctypes.c_long(request), ctypes.c_long(pid), None, None))
    LIBC.ptrace(ctypes.c_long(DETACH), ctypes.c_long(pid), None, None)
    return True


def _through(make: object, path: str) -> bool:
    link = Path(tempfile.mkdtemp()) / "link"
    make(path, link)  # type: ignore[operator] # os.symlink or os.link
    return secret_in(link)


def _links(pid: int) -> list[str]:
    """What its descriptors are; their numbers alone tell nothing."""
    return [os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")]


def _opened(path: str) -> bool:
    os.close(os.open(path, os.O_RDONLY))
    return True


def _more_than_its_own(folder: str) -> set[str]:
    """What a folder shows beside the way to what this test may see."""
    own = {
        part
        for path in (__file__, os.environ["HOME"], os.environ["SPYRE_LIBRARY"], *sys.path)
        for part in Path(path).parts
    }
    return set(os.listdir(folder)) - own


def _rows(file: str) -> object:
    copy = Path(tempfile.mkdtemp()) / "copy"
    shutil.copy(file, copy)
    return sqlite3.connect(copy).execute("SELECT * FROM seen").fetchall()


def _by_handle() -> bool:
    """The root folder of the disk that this file lies on, by its number, past every mount (`open_by_handle_at(2)`)."""
    here = os.open(Path(__file__).parent, os.O_RDONLY)
    handle = ctypes.create_string_buffer(struct.pack("<Ii", 8, 1) + struct.pack("<II", 2, 0))
    return call("open_by_handle_at", here, ctypes.addressof(handle), os.O_RDONLY) > 0
