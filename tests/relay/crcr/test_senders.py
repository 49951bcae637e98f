"""Who sends what: everything that can leave has a sender, as far as the settings let it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from relay.background import everybody_who_sends
from relay.context import RelayContext
from relay.crcr.senders import build
from relay.store.crcr_models import OutboxKind
from tests.relay.crcr.stage import Stage, staged


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(context) as made:
        made.set(hud_url="https://hud.example/api")
        yield made


def test_everything_that_can_leave_has_a_sender(stage: Stage) -> None:
    """A kind without one would wait for ever."""
    assert set(everybody_who_sends(stage.context)) == set(OutboxKind)


def test_without_an_app_what_github_must_hear_waits(stage: Stage) -> None:
    """It is not thrown away, and the other HUD gets its copies."""
    alone = replace(stage.context, crcr=replace(stage.parts, github=None))
    told_to_github = {OutboxKind.DISPATCH, OutboxKind.CHECK_RUN, OutboxKind.RERUN, OutboxKind.CANCEL}
    told_to_github |= {OutboxKind.COMMAND, OutboxKind.COMMENT}
    assert not told_to_github & set(everybody_who_sends(alone))
    assert OutboxKind.HUD in build(alone)


def test_without_a_hud_nobody_posts_there(stage: Stage) -> None:
    """There is no address."""
    stage.set(hud_url="")
    assert OutboxKind.HUD not in build(stage.context)
