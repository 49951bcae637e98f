"""A whole sandbox, which CI must have, and a checkout to show in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workers.runner.sandbox.inside import missing, open_folder
from workers.runner.sandbox import Sandbox, find_sandbox


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    """The whole wall. Elsewhere than in CI a machine without it skips."""
    found = find_sandbox()
    if found.problem:
        missing(found.problem)
    return found


@pytest.fixture
def checkout() -> Iterator[Path]:
    """A folder that any user of the machine may write to, so that only the sandbox can keep it whole."""
    with open_folder() as folder:
        yield folder
