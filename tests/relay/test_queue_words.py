"""What is said of the queue, by everybody alike."""

from __future__ import annotations

import pytest

from relay.queue_views import Wait, Waiting, WorkClass
from relay.queue_words import CLASS_WORDS, about, deep_queue, smaller_budget, why


@pytest.mark.parametrize("wait", Wait)
def test_every_reason_has_its_words(wait: Wait) -> None:
    said = why(Waiting(work_class=WorkClass.AUDIT, wait=wait, shards_before=3, group_leases=7, limit=9))
    assert said
    assert ("9" in said) == (wait in {Wait.GROUP_LIMIT, Wait.BACKGROUND_LIMIT})
    assert "{" not in said


def test_every_class_has_its_word() -> None:
    assert set(CLASS_WORDS) == set(WorkClass)


@pytest.mark.parametrize(("seconds", "said"), [(50, "50 s"), (90, "2 min"), (2_700, "45 min"), (12_600, "3.5 h")])
def test_durations_are_rough(seconds: float, said: str) -> None:
    assert about(seconds) == said


def test_back_pressure_is_told_with_its_size_and_what_is_not_done() -> None:
    assert "45 min" in deep_queue(2_700)
    assert "Nothing is dropped" in deep_queue(2_700)
    assert "about 45 min of work for each worker, so this run may plan 10 min" in smaller_budget(600, 2_700)
