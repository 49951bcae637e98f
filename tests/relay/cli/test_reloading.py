"""`--reload`: the child is started again when a source changes, whatever became of it, and ends with us."""

from __future__ import annotations

import io
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relay.cli.output import Output
from relay.cli.reloading import command_line, keep_running, stamp
from relay.cli.root import build
from tests.relay.cli.tree import commands
from tests.waiting import until

#: Notes that it started, says when it is asked to end, and waits.
CHILD = """
import signal, sys, time
log = open({log!r}, "a", buffering=1)
def end(*_):
    log.write("ended\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, end)
log.write("started\\n")
{then}
"""


@contextmanager
def running(folder: Path, log: Path, then: str = "time.sleep(60)") -> Iterator[Callable[[list[str]], None]]:
    """The command in a thread; what is given waits until the child has noted these lines."""
    stop = threading.Event()
    command = [sys.executable, "-c", CHILD.format(log=str(log), then=then)]
    thread = threading.Thread(target=keep_running, args=(command, [folder], stop, Output()))
    thread.start()

    def noted(lines: list[str]) -> None:
        until(lambda: log.exists() and log.read_text().split() == lines, f"the child's lines are {lines}")

    try:
        yield noted
    finally:
        stop.set()
        thread.join(30)
    assert not thread.is_alive()


def test_a_change_starts_it_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And with the end of ours it ends as well, asked before it is killed."""
    folder, log = tmp_path / "source", tmp_path / "log"
    folder.mkdir()
    (folder / "a.py").write_text("1")
    with running(folder, log) as noted:
        noted(["started"])
        (folder / "b.html").write_text("2")
        noted(["started", "ended", "started"])
    assert log.read_text().split() == ["started", "ended"] * 2
    assert f"{folder}/b.html changed, starting again" in capsys.readouterr().err


def test_a_child_that_cannot_start_waits_for_the_next_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, log = tmp_path / "source", tmp_path / "log"
    folder.mkdir()
    # Read while another thread writes: what is captured would be emptied by reading it, with what came in between.
    told = io.StringIO()
    monkeypatch.setattr(sys, "stderr", told)
    with running(folder, log, then="sys.exit(3)") as noted:
        noted(["started"])
        until(lambda: "ended with 3" in told.getvalue(), "its end is told")
        (folder / "a.py").write_text("fixed")
        noted(["started", "started"])


def test_what_takes_effect_without_a_start_starts_nothing(tmp_path: Path) -> None:
    """Manifests are read again by themselves, caches are nobody's source."""
    (tmp_path / "__pycache__").mkdir()
    before = stamp([tmp_path])
    for name in ("m.yaml", "notes.txt", ".hidden", "__pycache__/a.py"):
        (tmp_path / name).write_text("x")
    assert stamp([tmp_path]) == before
    (tmp_path / "a.css").write_text("x")
    assert stamp([tmp_path]) != before


def test_the_child_has_our_words_and_the_port_that_was_chosen() -> None:
    """A free port is chosen once, so that the address stays."""
    assert command_line(["relay", "serve", "--reload", "--port", "0"], 0, 4711)[3:] == [
        *("serve", "--port", "0"),
        *("--port", "4711"),
    ]
    assert command_line(["relay", "up", "--reload", "-q"], 8000, 8000)[3:] == ["up", "-q"]


def test_both_have_it() -> None:
    having = [path for path, it in commands(build()) if any("--reload" in option.opts for option in it.params)]
    assert having == [("up",), ("serve",)]
