"""What several tests of pages and of addresses begin with."""

from __future__ import annotations

import pytest

from relay.settings import RelaySettings
from tests.conftest import OpenApp
from tests.relay.web.readers import Readers


@pytest.fixture
def readers(settings: RelaySettings, open_app: OpenApp) -> Readers:
    """An application with an allowlist, at a moment that does not pass."""
    return Readers(settings, open_app)
