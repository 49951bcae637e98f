"""Every line of a process is one of ours: with the ids around it, and without its secrets, whoever wrote it."""

from __future__ import annotations

import json
import logging
import sys
import threading
from collections.abc import Callable

import pytest
import structlog

from relay.trail.log_lines import write_log_lines
from relay.trail.redaction import HIDDEN, Redactor

SECRET = "the-token+of/this=process"
KEY = "-----BEGIN X-----\n" + "abcdefghijklmnopqrstuvwxyz0123456789\n" * 2 + "-----END X-----"


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """What went to stderr since the set-up."""
    write_log_lines(logging.INFO, Redactor([SECRET, KEY]))
    return lambda: capsys.readouterr().err


def ours() -> None:
    structlog.get_logger("here").warning("said", text=f"it is {SECRET}")


def a_librarys() -> None:
    logging.getLogger("some.library").error("cannot connect with %s", SECRET)


def fail(words: str) -> None:
    raise ConnectionError(words)


def a_librarys_exception() -> None:
    try:
        fail(f"refused: {KEY}")
    except ConnectionError:
        logging.getLogger("some.library").exception("failed")


def a_threads_end() -> None:
    thread = threading.Thread(target=fail, args=(f"no {SECRET!r}",), name="a-thread")
    thread.start()
    thread.join()


def the_programs_end() -> None:
    try:
        fail(SECRET)
    except ConnectionError as error:
        sys.excepthook(type(error), error, error.__traceback__)


@pytest.mark.parametrize("say", [ours, a_librarys, a_librarys_exception, a_threads_end, the_programs_end])
def test_no_line_has_a_secret_whoever_wrote_it(say: Callable[[], None], written: Callable[[], str]) -> None:
    """In one line of JSON, in the context that is bound around; local variables are never shown."""
    with structlog.contextvars.bound_contextvars(run=7):
        say()
    (line,) = written().splitlines()
    assert HIDDEN in line
    assert SECRET not in line
    assert KEY.splitlines()[1] not in line
    told = json.loads(line)
    assert {"event", "level", "timestamp"} <= told.keys()
    assert told.get("run") == 7 or say is a_threads_end


def test_a_line_that_cannot_be_made_is_told_without_what_it_was_made_of(written: Callable[[], str]) -> None:
    """Python itself would print the arguments as they are."""
    (ours_alone,) = [it for it in logging.getLogger().handlers if type(it).__module__ == write_log_lines.__module__]
    ours_alone.emit(logging.LogRecord("some.library", logging.ERROR, __file__, 1, "%d of it", (SECRET,), None))
    (line,) = written().splitlines()
    assert json.loads(line)["logger"] == "some.library"
    assert SECRET not in line


def test_an_interrupt_is_no_fault(written: Callable[[], str]) -> None:
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert "uncaught" not in written()
