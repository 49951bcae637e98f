"""Checks are made side by side; one that hangs or breaks is a finding, and the others are shown."""

from __future__ import annotations

import threading

from relay.cli.check import Check, Look, made

FINE = Check("fine", "ok", "it is")


def test_a_look_that_hangs_or_breaks_is_a_finding() -> None:
    """In the order of the looks, and no later than the time of the one that hangs."""
    released = threading.Event()

    def hang() -> Check:
        released.wait(60)
        return FINE

    def fail() -> Check:
        raise ZeroDivisionError("geheim")

    hung, broken, fine = made([Look("hung", hang, 0.05), Look("broken", fail), Look("fine", lambda: FINE)])
    released.set()
    assert (hung.name, hung.status, hung.detail) == ("hung", "fail", "no answer within 0.05 s")
    assert (broken.name, broken.status, broken.detail) == ("broken", "fail", "looking failed (ZeroDivisionError)")
    assert fine == FINE


def test_looks_do_not_wait_for_each_other() -> None:
    together = threading.Barrier(3, timeout=20)

    def meet() -> Check:
        together.wait()
        return FINE

    assert made([Look(name, meet) for name in "abc"]) == [FINE] * 3
