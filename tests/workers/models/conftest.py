"""What tests of whole models share. torch never enters the test process itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.spyre.build import ensure_library
from workers.spyre.cache import default_cache


@pytest.fixture(scope="session")
def device_library() -> Path:
    """The library, kept between sessions: its name says what it was built from."""
    return ensure_library(default_cache())
