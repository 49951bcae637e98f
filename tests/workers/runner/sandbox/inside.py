"""Programs run in a sandbox, for the tests of it: what they print, and what they leave behind."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest

from workers.runner.sandbox.interpreter import interpreter_folders
from workers.runner.sandbox.launch import Launch, Sandbox
from workers.runner.sandbox.syscalls import filter_program

RUN_S = 120.0
NOBODY = 65534
_ROOT = Path(__file__).parents[4]


def run_inside(
    sandbox: Sandbox, argv: tuple[str, ...], folder: Path, *, readable: tuple[Path, ...] = (), **environment: str
) -> tuple[int, str]:
    """Exit status and output of `argv`, whose first word is a Python. `folder` is its checkout and its directory."""
    output = os.memfd_create("output")
    try:
        shown = (*interpreter_folders(Path(argv[0])), folder, *readable)
        process = sandbox.start(Launch(argv, {"PATH": os.defpath, **environment}, folder, shown, folder, (), output))
        try:
            status = process.wait(RUN_S)
        finally:
            process.kill()
            process.wait()
        return status, os.pread(output, 1 << 20, 0).decode(errors="replace")
    finally:
        os.close(output)


@contextmanager
def as_nobody() -> Iterator[None]:
    """Start processes as a user without rights; this process stays able to come back to root."""
    groups = os.getgroups()
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, 0)
    os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups(groups)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder that every user of this machine may read and write, unlike those pytest makes."""
    with tempfile.TemporaryDirectory(prefix="sandbox-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        inner = folder / "checkout"
        inner.mkdir()
        inner.chmod(0o777)
        yield inner


def reachable_python() -> Path | None:
    """A Python that a user without rights can run."""
    found = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    return Path(found) if found else None


def named(name: str) -> list[int]:
    """The numbers of all processes of this machine with that name."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text().strip() == name:
                found.append(int(folder.name))
        except OSError:
            continue  # gone by now
    return found


@contextmanager
def killed_worker(program: str) -> Iterator[None]:
    """A process that runs `program` as a worker would, from when that is done to the end of the block, where it is
    killed."""
    waits = f"{textwrap.dedent(program)}\nimport signal\nprint('up', flush=True)\nsignal.pause()"
    with subprocess.Popen([sys.executable, "-c", waits], cwd=_ROOT, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"up\n"
            yield
        finally:
            process.kill()


def missing(sentence: str) -> NoReturn:
    """This machine lacks something: fail in CI, skip elsewhere."""
    if os.environ.get("CI"):
        pytest.fail(sentence)
    pytest.skip(sentence)


def without_libseccomp(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pyseccomp as it behaves on a machine without the C library."""
    (folder / "pyseccomp.py").write_text("raise RuntimeError('Unable to find libseccomp')")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "pyseccomp", raising=False)
    filter_program.cache_clear()
