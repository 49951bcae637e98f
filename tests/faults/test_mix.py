"""One mix of all faults by a fixed seed, while changes arrive: what must hold holds. `make faults` tries them all, each
alone and mixed, with more changes."""

from __future__ import annotations

import pytest

from tests.faults.story import mixed, tell
from tests.faults.table import story, table

SEED, CHANGES, SECONDS = 1, 80, 50.0


@pytest.mark.e2e
@pytest.mark.timeout(240)
def test_whatever_breaks_nothing_is_lost_and_nothing_is_done_twice(capsys: pytest.CaptureFixture[str]) -> None:
    told = tell(mixed(CHANGES, SECONDS, SEED))
    with capsys.disabled():
        print(f"\n{story(told)}\n{table([told])}")
    assert told.holds, story(told)
    assert told.figures["finished"] > CHANGES / 4, story(told)
