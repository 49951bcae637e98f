"""A scene on SQLite; one on each database for what the database has a say in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.context import RelayContext
from relay.store.engine import Store
from tests.relay.comments.scene import Scene, staged


@pytest.fixture
def scene(context: RelayContext) -> Iterator[Scene]:
    """On SQLite."""
    with staged(context, context.store) as made:
        yield made


@pytest.fixture
def shared(context: RelayContext, store: Store) -> Iterator[Scene]:
    """Once on SQLite, once on PostgreSQL."""
    with staged(context, store) as made:
        yield made
