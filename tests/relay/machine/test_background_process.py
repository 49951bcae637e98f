"""A background in a process of its own is told everything without showing it, hears every ring, and comes back."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

from relay.intake.watching import INBOX
from relay.machine.background_process import background_process
from relay.outbox.bell import BELL
from relay.settings import RelaySettings
from tests.waiting import until

SECRET = "a-secret-that-shows-nowhere-else"

WAIT_S = 30

#: Writes its settings down, and then every bell that is rung, as the background would act on it.
CHILD = """
import os, pathlib, sys, time
from relay.intake.watching import INBOX
from relay.machine.background_process import given_settings, hear
from relay.outbox.bell import BELL
folder = pathlib.Path(sys.argv[1])
settings = given_settings()
secret = settings.webhook_secret.get_secret_value()
(folder / f"settings.{os.getpid()}").write_text(f"{settings!r} {secret} {sorted(settings.model_fields_set)}")
hear(int(sys.argv[sys.argv.index("--rings") + 1]))
(folder / f"hears.{os.getpid()}").touch()
while True:
    for name, bell in (("inbox", INBOX), ("outbox", BELL)):
        if bell.rings:
            (folder / f"{name}.{os.getpid()}").touch()
    time.sleep(0.01)
"""


def pids(folder: Path, name: str) -> set[int]:
    return {int(file.suffix[1:]) for file in folder.glob(f"{name}.*")}


@pytest.fixture
def given(settings: RelaySettings) -> RelaySettings:
    return settings.model_copy(update={"webhook_secret": SecretStr(SECRET), "audit_at": "03:00"})


def test_it_is_told_everything_and_shows_nothing(tmp_path: Path, given: RelaySettings) -> None:
    """The settings are the same ones, defaults are still defaults; no secret is in its command or its environment."""
    with background_process(given, tmp_path / "log", (sys.executable, "-c", CHILD, str(tmp_path))):
        until(lambda: bool(pids(tmp_path, "hears")), "the child listens", WAIT_S)
        (pid,) = pids(tmp_path, "hears")
        shown = Path(f"/proc/{pid}/environ").read_bytes() + Path(f"/proc/{pid}/cmdline").read_bytes()
    told = (tmp_path / f"settings.{pid}").read_text()
    assert told == f"{given!r} {SECRET} {sorted(given.model_fields_set)}"
    assert SECRET.encode() not in shown
    assert (tmp_path / "log").read_text() == ""


def test_it_hears_each_bell_by_itself_also_after_a_restart(tmp_path: Path, given: RelaySettings) -> None:
    """Killed, it comes back with the same settings; a ring is heard as the bell it was."""
    with background_process(given, tmp_path / "log", (sys.executable, "-c", CHILD, str(tmp_path))):
        until(lambda: bool(pids(tmp_path, "hears")), "the child listens", WAIT_S)
        (first,) = pids(tmp_path, "hears")
        BELL.ring()
        until(lambda: pids(tmp_path, "outbox") == {first}, "the outbox's bell is heard", WAIT_S)
        assert pids(tmp_path, "inbox") == set()
        os.kill(first, signal.SIGKILL)
        until(lambda: len(pids(tmp_path, "hears")) == 2, "it is back", WAIT_S)
        (second,) = pids(tmp_path, "hears") - {first}
        assert pids(tmp_path, "settings") == {first, second}
        INBOX.ring()
        until(lambda: pids(tmp_path, "inbox") == {second}, "the inbox's bell is heard", WAIT_S)
        assert pids(tmp_path, "outbox") == {first}


def test_rings_that_nobody_hears_hold_nobody_up(tmp_path: Path, given: RelaySettings) -> None:
    """A background that is stuck does not keep a webhook from being answered."""
    stuck = (sys.executable, "-c", "import time; time.sleep(600)")
    with background_process(given, tmp_path / "log", stuck):
        for _ in range(100_000):  # more than a pipe holds
            INBOX.ring()


def test_a_bell_is_let_go_of(tmp_path: Path, given: RelaySettings) -> None:
    """After the block its descriptors belong to others: nothing is written there."""
    with background_process(given, tmp_path / "log", (sys.executable, "-c", "import time; time.sleep(600)")):
        pass
    hears, tells = os.pipe()
    try:
        INBOX.ring()
        BELL.ring()
        os.set_blocking(hears, False)
        with pytest.raises(BlockingIOError):
            os.read(hears, 1)
    finally:
        os.close(hears)
        os.close(tells)
