"""Which calls a fault meets, and how often."""

from __future__ import annotations

from relay.devgithub import Fault
from relay.devgithub.faults import Faults


def test_meets_the_calls_it_names_as_often_as_it_says() -> None:
    faults = Faults()
    first = faults.add(Fault("POST", "/repos/*/dispatches", times=2, status=500))
    second = faults.add(Fault(status=503))
    assert faults.take("POST", "/repos/a/b/dispatches") is first
    assert faults.take("GET", "/repos/a/b/dispatches") is second
    assert faults.left == 1
    assert faults.take("POST", "/repos/a/b/check-runs") is None
    assert faults.take("POST", "/repos/a/b/dispatches") is first
    assert faults.take("POST", "/repos/a/b/dispatches") is None
    assert faults.left == 0


def test_is_forgotten_on_demand() -> None:
    faults = Faults()
    faults.add(Fault())
    faults.clear()
    assert faults.take("GET", "/") is None
