"""Leaves things for the test file that comes next, in this shard and in later ones."""

# ruff: noqa: S108 - folders that everybody may write to are what this is about

from __future__ import annotations

import builtins
import os
import sys
import tempfile
import unittest
from contextlib import suppress
from pathlib import Path

from tests.hostile.attacks.tries import Tries

NAME = "hostile_left"


class TestLeaving(unittest.TestCase):
    def test_leave(self) -> None:
        tries = Tries()
        left = 0
        folders = ("/tmp", "/dev/shm", "/var/tmp", "/run", os.getcwd(), "/", os.environ["HOME"], tempfile.gettempdir())
        for folder in dict.fromkeys((*folders, *map(os.path.dirname, (os.environ["HOME"], tempfile.gettempdir())))):
            for name in (f"{NAME}.py", f"{NAME}-folder/inner/file", "conftest.py", "sitecustomize.py", ".pythonrc"):
                with suppress(OSError):
                    path = Path(folder, name)
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(f"{NAME} = True\n")
                    left += 1
                    path.chmod(0)
                    if path.parent.name == "inner":
                        path.parent.chmod(0)
        os.environ["HOSTILE_LEFT"] = "1"
        sys.path.insert(0, "/tmp")
        builtins.hostile_left = True  # type: ignore[attr-defined] # that is the point
        __import__("json").hostile_left = True  # type: ignore[attr-defined] # that is the point
        tries.note("left", left)
        tries.report()
