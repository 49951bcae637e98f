"""The background as a whole: what it waits for, and that its threads end with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import pytest

from relay.background import background
from relay.context import RelayContext
from relay.github.types import HookDelivery
from relay.metrics.pulse import SWEEP
from relay.store.clock import utc_now
from relay.store.duties import last_done
from relay.store.engine import Store
from tests.conformance.github_stand_in import GitHubStandIn
from tests.relay.crcr.telling import Telling, telling
from tests.waiting import until


class SlowGitHub(GitHubStandIn):
    """A GitHub whose answer to one request is waited for until a test lets it come."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.answers = threading.Event(), threading.Event()

    def hook_deliveries(self, since: datetime) -> list[HookDelivery]:
        self.asked.set()
        self.answers.wait(60)
        return []


@pytest.fixture
def story(context: RelayContext, store: Store) -> Iterator[Telling]:
    """A relay that heard of something, and sweeps often."""
    often = context.settings.model_copy(update={"sweep_seconds": 0.02})
    with telling(replace(context, settings=often), store) as made:
        made.receive()
        made.drain()
        yield made


def test_nothing_waits_for_a_slow_github_and_no_thread_is_left(story: Telling) -> None:
    """Sweeps go on while one who asks gets no answer; once it is there and all is ended, so have all threads."""
    github = SlowGitHub()
    assert story.context.crcr is not None
    context = replace(story.context, crcr=replace(story.context.crcr, github=github), now=utc_now)
    before = threading.active_count()
    with background(context):
        assert github.asked.wait(20)
        swept = last_done(context.store, SWEEP)
        try:
            until(lambda: last_done(context.store, SWEEP) != swept, "a sweep beside the request", seconds=20)
        finally:
            github.answers.set()
    until(lambda: threading.active_count() == before)
