"""A tab's value is the event of its jobs, and a backend is expected on it by what it takes part in."""

from __future__ import annotations

import pytest

from relay.allowlist.types import Participation
from relay.hud.summaries import NIGHTLY, PERIODIC
from relay.hud.tabs import Tab


def test_values_are_the_events_of_the_queries() -> None:
    assert [Tab.NIGHTLY.value, Tab.PERIODIC.value] == [NIGHTLY, PERIODIC]


@pytest.mark.parametrize("tab", Tab)
def test_periodic_runs_are_for_those_that_take_part_in_nightly_ones(tab: Tab) -> None:
    wanted = Participation.NIGHTLY if tab.scheduled else Participation.PULL_REQUEST
    assert tab.participation is wanted
