"""A scene on each database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.context import RelayContext
from relay.store.engine import Store
from tests.relay.comments.scene import Scene, staged


@pytest.fixture
def scene(context: RelayContext, store: Store) -> Iterator[Scene]:
    """Once on SQLite, once on PostgreSQL."""
    with staged(context, store) as made:
        yield made
