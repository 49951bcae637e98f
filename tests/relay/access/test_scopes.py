"""What a token of one scope opens, as one table."""

from __future__ import annotations

import pytest

from relay.access.scopes import opens
from relay.access_views import Scope


@pytest.mark.parametrize(
    ("held", "opened"),
    [
        (Scope.READ, {Scope.READ}),
        (Scope.OPERATE, {Scope.READ, Scope.OPERATE}),
        (Scope.ADMIN, {Scope.READ, Scope.OPERATE, Scope.ADMIN}),
        (Scope.WORKER, {Scope.WORKER}),
    ],
)
def test_a_scope_opens_what_it_includes_and_nothing_else(held: Scope, opened: set[Scope]) -> None:
    assert {needed for needed in Scope if opens(held, needed)} == opened
