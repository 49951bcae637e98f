"""Takes all there is: processes, threads, memory, room, files, descriptors, processor time, the pipes to the worker."""

# ruff: noqa: S108 - folders that everybody may write to are what this is about

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import resource
import signal
import sys
import tempfile
import threading
import unittest
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from tests.hostile.attacks.tries import LIBC, Tries, call

MIB = 1 << 20
FORKS, THREADS, FILES = 600, 600, 5_000


class TestExhausting(unittest.TestCase):
    def test_processes(self) -> None:
        tries = Tries()
        children: list[int] = []
        try:
            # A copy of this process, with all of torch, would take its time to make.
            while len(children) < FORKS:
                children.append(os.posix_spawn("/bin/sleep", ["hostile_left", "600"], {}))
        except BlockingIOError:
            pass
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        tries.note("processes", len(children))
        tries.note("threads", _threads())
        for limit in (resource.RLIMIT_NPROC, resource.RLIMIT_AS, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):
            tries.must_fail(f"raise {limit}", _raised, limit)
        tries.report()

    def test_memory(self) -> None:
        tries = Tries()
        tries.must_fail("map", mmap.mmap, -1, 32 << 30)
        tries.must_fail("allocate", bytearray, 32 << 30)
        tries.must_fail("a file without a name", _memory_files)
        tries.must_fail("a pipe", _large_pipes)
        tries.must_fail("locked", lambda: _worked(LIBC.mlockall(7)))
        tries.report()

    def test_room(self) -> None:
        tries = Tries()
        for name, folder in {"tmp": tempfile.gettempdir(), "/dev/shm": "/dev/shm", "/run": "/run", "/": "/",
                             "/dev": "/dev", "/run/lock": "/run/lock", "/opt": "/opt"}.items():  # fmt: skip
            tries.note(name, _room(Path(folder, "hostile_large")))
        many = Path(tempfile.mkdtemp())
        for made in range(FILES):
            (many / f"hostile_left-{made}").touch()
        tries.note("files", len(os.listdir(many)))
        tries.report()

    def test_descriptors(self) -> None:
        """Left open at the end: the next test has its own."""
        tries = Tries()
        opened: list[int] = []
        with suppress(OSError):
            while len(opened) < 100_000:
                opened.append(os.dup(0))
        tries.note("descriptors", len(opened))
        for descriptor in opened:
            os.close(descriptor)
        tries.report()

    def test_output(self) -> None:
        """A flood on what is printed to, and one on whatever leads out of here."""
        for _ in range(40):
            sys.stdout.write("\n=== test/test_honest.py::TestHonest::test_one\n" + "x" * MIB)
        for name in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                os.write(int(name), b"y" * (8 * MIB))
        raise AssertionError("z" * (16 * MIB) + "\udc80\0")

    def test_names(self) -> None:
        """Texts that every reader has to take: of odd characters, and much too long."""
        with self.subTest("n" * MIB, other="\0\ud800" * 1000):
            self.fail("\x1b[2J\u202e<script>" + "\n" * MIB)

    def test_processor(self) -> None:
        """Until somebody ends it, deaf to what is usually sent first."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
        while True:
            sum(range(MIB))


def _threads() -> int:
    stop, made = threading.Event(), 0
    with suppress(RuntimeError):
        while made < THREADS:
            threading.Thread(target=stop.wait, daemon=True).start()
            made += 1
    stop.set()
    return made


def _raised(limit: int) -> None:
    _, hard = resource.getrlimit(limit)
    if hard == resource.RLIM_INFINITY:
        return
    resource.setrlimit(limit, (hard + 1, hard + 1))


def _memory_files() -> None:
    """Memory that no limit of address space counts."""
    call("memfd_create", b"hostile", 0)


def _large_pipes() -> None:
    made: list[int] = []
    try:
        for _ in range(200):
            made += os.pipe()
            fcntl.fcntl(made[-1], 1031, MIB)  # F_SETPIPE_SZ
    finally:
        for end in made:
            os.close(end)


def _room(path: Path) -> int | str:
    """How many MiB there are for the taking, up to 768; or why there are none."""
    taken = 0
    try:
        for part in _parts(path):
            with part.open("wb") as file:
                for step in range(4):
                    os.posix_fallocate(file.fileno(), step * 64 * MIB, 64 * MIB)
                    taken += 64
    except OSError as error:
        return taken or str(error.strerror)
    finally:
        for part in _parts(path):
            with suppress(OSError):
                part.unlink()
    return taken


def _parts(path: Path) -> Iterator[Path]:
    return (path.with_name(f"{path.name}-{part}") for part in range(3))


def _worked(result: int) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), "")
