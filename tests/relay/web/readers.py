"""An application with an allowlist and a clock that stands still, and what its pages cost the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from fastapi.testclient import TestClient
from sqlalchemy import Engine, event

from relay.context import RelayContext
from relay.parts import CrcrParts
from relay.settings import RelaySettings
from tests.conformance.allowlist_stand_in import AllowlistStandIn
from tests.conftest import OpenApp
from tests.relay.hud.told import NOW

ALLOWLIST = """\
L1:
  - a/l1
L2:
  - a/l2: ann
  - a/quiet
L3:
  npu:
    a/l3: [x]
L4:
  - a/l4: y, z
"""


class _NoVerifier:
    def verify(self, authorization: str | None) -> Any:
        raise AssertionError("nothing here asks for a token")

    def close(self) -> None:
        """There is nothing to close."""


class Readers:
    """The application, its client, and the list that it reads."""

    def __init__(self, settings: RelaySettings, open_app: OpenApp) -> None:
        self.allowlist = AllowlistStandIn(lambda: NOW, text=ALLOWLIST)
        self.app = open_app(settings, crcr=CrcrParts(self.allowlist, _NoVerifier(), None), now=self.now)
        context = self.app.state.relay
        assert isinstance(context, RelayContext)
        self.context = context
        self.client = TestClient(self.app)

    def now(self) -> datetime:
        """The moment at which everything here happens."""
        return NOW


@contextmanager
def statements(engine: Engine) -> Iterator[list[str]]:
    """The statements that are executed meanwhile."""
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)
