"""The texts of outcomes."""

from __future__ import annotations

from relay.contract import MESSAGE_CAP
from workers.runner.details import capped, how_it_ended, with_output

HARNESS = "".join(
    f'  File "{"/a/long/enough/path/" * (line % 2)}{file}", line {line} in some_function\n'
    for line in range(30)
    for file in ("site-packages/_pytest/runner.py", "site-packages/pluggy/_callers.py", "workers/runner/child/file.py")
)


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


def test_the_frames_of_a_test_survive_whatever_else_a_stack_dump_holds() -> None:
    idle = "Thread 0x00007fbb (most recent call first):\n" + '  File "/py/threading.py", line 1 in run\n' * 4 + "\n"
    main = (
        "Current thread 0x00007fbc (most recent call first):\n"
        '  File "/tree/test/test_sample.py", line 9 in test_stop\n'
        '  File "/py/unittest/case.py", line 5 in run\n'
    )
    end = '  File "<frozen runpy>", line 88 in _run_code\n'
    modules = f"\nExtension modules: {', '.join(f'torch._C.part_{n}' for n in range(900))} (total: 900)\n"
    text = with_output("ended", "Fatal Python error: Aborted\n\n" + idle * 90 + main + HARNESS + end + modules)
    assert text.endswith(main.rstrip())
    assert len(text) <= MESSAGE_CAP


def test_output_that_only_speaks_of_such_frames_is_kept() -> None:
    words = 'see File "/x/_pytest/runner.py", line 1 in run'
    assert with_output("ended", words).endswith(words)
