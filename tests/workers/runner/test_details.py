"""The texts of outcomes."""

from __future__ import annotations

from relay.contract import MESSAGE_CAP
from workers.runner.details import capped, how_it_ended, with_output


def test_a_long_text_keeps_its_start_and_its_end() -> None:
    text = capped("start" + "x" * 20_000 + "end")
    assert len(text) == MESSAGE_CAP
    assert text.startswith("start")
    assert text.endswith("end")


def test_a_text_that_fits_is_left_alone() -> None:
    assert capped("x" * MESSAGE_CAP) == "x" * MESSAGE_CAP


def test_what_no_store_can_hold_is_replaced() -> None:
    capped("a\0b\ud800c").encode()
    assert "\0" not in capped("a\0b")


def test_an_end_is_told_by_its_signal_or_its_status() -> None:
    assert how_it_ended(-11) == "the process was killed by SIGSEGV"
    assert how_it_ended(-63) == "the process was killed by signal 63"
    assert how_it_ended(0) == "the process ended with exit status 0"


def test_output_is_cut_in_front_and_never_over_the_cap() -> None:
    text = with_output("it ended", "x" * 20_000 + "last words\n")
    assert len(text) <= MESSAGE_CAP
    assert text.startswith("it ended\nLast output:\n")
    assert text.endswith("last words")
    assert with_output("it ended", " \n") == "it ended"
