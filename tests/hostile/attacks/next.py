"""Looks for what an earlier test file has left."""

# ruff: noqa: S108 - folders that everybody may write to are what this is about

from __future__ import annotations

import builtins
import json
import os
import sys
import tempfile
import unittest
from pathlib import Path

from tests.hostile.attacks.tries import Tries, visible

NAME = "hostile_left"


class TestNext(unittest.TestCase):
    def test_look(self) -> None:
        tries = Tries()
        homes = (os.environ["HOME"], tempfile.gettempdir())
        folders = dict.fromkeys(
            ("/tmp", "/dev/shm", "/var/tmp", "/run", "/", *homes, *map(os.path.dirname, homes), *sys.path)
        )
        for folder in filter(None, folders):
            tries.must_find_nothing(folder, _left, folder)
        tries.must_find_nothing("environment", os.environ.get, "HOSTILE_LEFT")
        tries.must_find_nothing("builtins", hasattr, builtins, NAME)
        tries.must_find_nothing("modules", lambda: hasattr(json, NAME) or NAME in sys.modules)
        tries.must_find_nothing("processes", lambda: [pid for pid in visible() if NAME in _name(pid)])
        tries.report()


def _left(folder: str) -> list[str]:
    names = os.listdir(folder) if os.path.isdir(folder) else []
    return [name for name in names if NAME in name or name in {"conftest.py", ".pythonrc"}]


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text()
