"""Does nothing wrong: what is promised to everybody else must hold for it."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path


class TestHonest(unittest.TestCase):
    def test_one(self) -> None:
        assert 1 + 1 == 2

    def test_two(self) -> None:
        raise AssertionError("as it should")

    def test_room(self) -> None:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * (1 << 20))
        assert os.listdir(os.environ["HOME"]) == []
        assert os.listdir(tempfile.gettempdir()) == []
        assert Path(__file__).exists()
