"""Writes where the worker, the next shard or another run would read. Whatever works is undone at once."""

from __future__ import annotations

import os
import sqlite3
import sys
import sysconfig
import unittest
from contextlib import suppress
from pathlib import Path

from tests.hostile.attacks.tries import FACTS, Tries

HERE = Path(__file__).parent


class TestPoisoning(unittest.TestCase):
    def test_folders(self) -> None:
        """A new file in each: a hook, a module, a library, a work tree."""
        tries = Tries()
        for name, folder in {**FACTS["folders"], **FACTS["homes"]}.items():
            tries.must_fail(name, _made, Path(folder, "hostile_left"))
        tries.must_fail("a hook", _made, Path(FACTS["mirror"], "hooks", "post-checkout"))
        for name in ("/usr/bin", "/usr/lib", "/etc", "/var/spool", "/opt", "/boot", "/lib", "/root"):
            tries.must_fail(name, _made, Path(name, "hostile_left"))
        tries.report()

    def test_files(self) -> None:
        """Opened to be changed, but not changed: the worker is the next one to read them."""
        tries = Tries()
        for name, path in FACTS["worker_files"].items():
            tries.must_fail(f"write {name}", _opened, path)
            tries.must_fail(f"truncate {name}", lambda path=path: os.truncate(path, os.stat(path).st_size))
            tries.must_fail(f"mode {name}", lambda path=path: os.chmod(path, os.stat(path).st_mode & 0o7777))
            tries.must_fail(f"owner {name}", lambda path=path: os.chown(path, os.stat(path).st_uid, -1))
            tries.must_fail(f"time {name}", lambda path=path: os.utime(path))
            tries.must_fail(f"rename {name}", _moved, path)
        tries.must_fail("base results", _poisoned, FACTS["base_results"])
        tries.report()

    def test_python(self) -> None:
        """What any Python would load next time: beside the tests, beside torch, in the environment, in the device."""
        tries = Tries()
        site = sysconfig.get_path("purelib")
        for name, path in {
            "a path file": Path(site, "hostile_left.pth"),
            "a start-up module": Path(site, "sitecustomize.py"),
            "a user's start-up module": Path(site, "usercustomize.py"),
            "a plug-in": Path(site, "hostile_left-1.dist-info"),
            "conftest": HERE / "conftest.py",
            "conftest of the tree": HERE.parent / "conftest.py",
            "bytecode": HERE / "__pycache__",
            "a module in front": HERE / "json.py",
            "another test": HERE / "test_hostile_left.py",
            "the device": Path(os.environ.get("SPYRE_LIBRARY", site)).parent / "hostile_left",
        }.items():
            tries.must_fail(name, _made, path)
        for module in ("torch", "pytest", "workers", "workers.spyre", "json", "tests.hostile.attacks.tries"):
            file = getattr(sys.modules.get(module) or __import__(module), "__file__", None)
            tries.must_fail(f"module {module}", _opened, str(file))
        tries.must_fail("the program", _opened, sys.executable)
        tries.must_fail("this file", _opened, __file__)
        tries.report()


def _made(path: Path) -> None:
    """A folder, then a file: whatever there is a right to. Folders in front of it are made where they are missing."""
    try:
        path.mkdir(parents=True)
    except OSError:
        path.write_bytes(b"")
        path.unlink()
    else:
        path.rmdir()


def _opened(path: str) -> None:
    with open(path, "r+b"):
        pass


def _moved(path: str) -> None:
    os.rename(path, f"{path}.hostile_left")
    os.rename(f"{path}.hostile_left", path)


def _poisoned(file: str) -> None:
    connection = sqlite3.connect(file, timeout=1, isolation_level=None)
    with suppress(sqlite3.ProgrammingError):
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("INSERT INTO seen VALUES ('hostile', 'hostile', '[]', 0)")
        connection.execute("ROLLBACK")
