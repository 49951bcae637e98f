"""What `relay.background` names, in a process of its own: who waits for an answer then shares no interpreter with the
hundreds of requests that are made to others.

The child is told everything by descriptors: the settings, secrets and all, in a file that has no name, and the rings of
this process's bell by a pipe. Neither shows in a command line or in an environment.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

from pydantic import SecretStr

from relay.intake.watching import INBOX
from relay.machine.processes import ChildSpec, Supervisor
from relay.outbox.bell import BELL
from relay.settings import ORIGINAL_VARIABLES, RelaySettings

#: Letters that are being sent when it is to stop are waited for: longer than GitHub is.
_GRACE_S = 25.0
_OURS = "RELAY_"


_NICE = 5
_BELLS = {b"i": INBOX, b"o": BELL}

#: What is run, before `--rings`.
COMMAND = (sys.executable, "-m", "relay", "background")


@contextmanager
def background_process(
    settings: RelaySettings, log_file: Path | None, command: Sequence[str] = COMMAND
) -> Iterator[None]:
    """A background beside this process, started again when it dies. It writes to `log_file`, or where we do."""
    given = _unnamed_file(settings)
    hears, rings = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    os.set_blocking(hears, True)
    try:
        told = (*command, "--rings", str(hears), *_loudness())
        spec = ChildSpec("background", told, _environment(), log_file, stdin=given, passed=(hears,))
        with Supervisor([spec], upkeep=lambda: None, grace_s=_GRACE_S), ExitStack() as stack:
            for sign, bell in _BELLS.items():
                stack.enter_context(bell.heard_by(partial(_ring, rings, sign)))
            yield
    finally:
        for descriptor in (given, hears, rings):
            os.close(descriptor)


def given_settings() -> RelaySettings:
    """In the child: the settings of the process that started it."""
    # Every child that is started again reads the same file, whose place is where the last one left it.
    os.lseek(sys.stdin.fileno(), 0, os.SEEK_SET)
    return RelaySettings(**json.loads(sys.stdin.read()))


def hear(rings: int) -> None:
    """In the child: ring its own bells at every ring of the process that started it, until that is gone. Lets that
    process go first, where both want the machine: somebody waits for it."""
    os.nice(_NICE)

    def listen() -> None:
        # Many rings at once are one.
        while heard := os.read(rings, 4096):
            for sign, bell in _BELLS.items():
                if sign in heard:
                    bell.ring()

    threading.Thread(target=listen, name="relay-rings", daemon=True).start()


def _unnamed_file(settings: RelaySettings) -> int:
    """What was set, which is all of it: nothing is read from anywhere a second time, and defaults stay defaults."""
    chosen = settings.model_dump(include=settings.model_fields_set)
    descriptor = os.memfd_create("relay-settings")
    os.write(descriptor, json.dumps(chosen, default=_plain).encode())
    return descriptor


def _plain(value: object) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def _environment() -> dict[str, str]:
    """Ours, without settings under any name: proxies and certificates are as they are here."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_OURS) and name not in ORIGINAL_VARIABLES
    }
    return kept | {"PYTHONUNBUFFERED": "1"}


def _loudness() -> tuple[str, ...]:
    level = logging.getLogger().getEffectiveLevel()
    return ("--verbose",) if level <= logging.DEBUG else ("--quiet",) if level >= logging.WARNING else ()


def _ring(rings: int, sign: bytes) -> None:
    with suppress(BlockingIOError):  # it has thousands to hear already
        os.write(rings, sign)
