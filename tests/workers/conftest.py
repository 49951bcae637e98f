"""Fixtures of the worker service: a git repository, and a relay on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from tests.workers.relay_double import RelayDouble, serving
from tests.workers.small_upstream import Upstream, new_upstream


@pytest.fixture(autouse=True)
def _plain_log() -> Iterator[None]:
    """structlog's default draws stacks with all local variables, which takes seconds."""
    structlog.configure(
        processors=[structlog.processors.JSONRenderer()], logger_factory=structlog.ReturnLoggerFactory()
    )
    yield
    structlog.reset_defaults()


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return new_upstream(tmp_path / "upstream")


@pytest.fixture
def relay() -> Iterator[RelayDouble]:
    with serving(RelayDouble()) as double:
        yield double
