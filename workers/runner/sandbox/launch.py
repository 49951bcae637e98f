"""What is started in a sandbox, and what every sandbox can do. Values only: nothing here starts a process."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Launch:
    """One program to start.

    `environment` is all of it; the sandbox sets HOME and TMPDIR to its temporary root. `directory` is where it runs and
    lies in a readable folder. `readable` are absolute host paths that it sees, read-only and at the same place (the
    interpreter's folders, the checkout, the overlay, the device library, staged code). `scratch` is an existing folder
    of this launch. `inherited` are descriptors that keep their numbers; `output` is the one for standard output and
    standard error (None: nowhere). Standard input is empty. `writable` are host folders that it may change, for a
    program that is to leave something behind; test code gets none, and nothing bounds how much is written there.
    """

    argv: tuple[str, ...]
    environment: dict[str, str]
    directory: Path
    readable: tuple[Path, ...]
    scratch: Path
    inherited: tuple[int, ...] = ()
    output: int | None = None
    writable: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """What the programs of one launch may use; sizes in bytes. `processes` counts threads too, over the whole launch;
    the rest but `temporary_bytes` holds for each process."""

    processes: int = 256
    descriptors: int = 4096
    file_bytes: int = 1 << 30
    address_space_bytes: int = 8 << 30
    temporary_bytes: int = 512 << 20


class Sandbox(Protocol):
    """Starts programs behind a wall. `problem` says in a sentence why the wall is lower than it could be, and what to
    do; empty when nothing is missing. With `keeps_files` programs can change nothing that is not theirs."""

    @property
    def name(self) -> str: ...

    @property
    def problem(self) -> str: ...

    @property
    def keeps_files(self) -> bool: ...

    def temporary_root(self, scratch: Path) -> Path:
        """Where the program of a launch with this `scratch` may make files and folders, as the program sees it."""
        ...

    def private(self, scratch: Path) -> tuple[Path, ...]:
        """The temporary root, and other folders that are empty at a launch's start and nobody else's."""
        ...

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        """Start the program in a session of its own. `end` it in any case.

        It is ended when the thread that called this ends. Raises OSError when it cannot be started.
        """
        ...

    def end(self, process: subprocess.Popen[bytes]) -> None:
        """End a started program with all that descends from it, and wait for that; it may have ended by itself."""
        ...
