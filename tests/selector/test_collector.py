"""The cycle collector is paused for a while, and never stays off when it was on."""

from __future__ import annotations

import gc

import pytest

from selector.collector import collector_paused


def test_the_collector_runs_again_even_after_a_failure() -> None:
    with pytest.raises(ZeroDivisionError), collector_paused():
        assert 1 / gc.isenabled()
    assert gc.isenabled()


def test_an_inner_pause_does_not_end_the_outer_one() -> None:
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
