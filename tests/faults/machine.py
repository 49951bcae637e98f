"""A machine that can be troubled: its wall clock set, its disk full. Processes started with its environment are on it.

The C library's functions are covered by `machine_shim.c` (LD_PRELOAD), which needs no root and moves nobody else's
clock. git is started by workers with an environment of its own, so there is a `git` that puts it back.
"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

_SOURCE = Path(__file__).parent / "machine_shim.c"


def build_shim(folder: Path) -> Path:
    """The compiled shim. The compiler is the one that the device is built with."""
    library = folder / "machine_shim.so"
    command = ["g++", "-x", "c", "-O1", "-fPIC", "-shared", "-o", str(library), str(_SOURCE), "-ldl"]
    subprocess.run(command, check=True, capture_output=True)
    return library


class Machine:
    """One, with a disk in `folder`."""

    def __init__(self, name: str, folder: Path, shim: Path) -> None:
        self.name = name
        self.disk = folder / "disk"
        self.disk.mkdir(parents=True)
        self._switches = folder / "switches"
        self._shim = shim
        self._programs = folder / "programs"
        self._clock_ahead_s, self._full = 0.0, False
        self._write()
        self._wrap_git()

    def environment(self, own: Mapping[str, str]) -> dict[str, str]:
        """What a process on this machine is started with."""
        path = f"{self._programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
        return {"PATH": path, "HOME": str(self.disk), "LANG": "C.UTF-8", **self._troubled(), **own}

    def set_clock_ahead(self, seconds: float) -> None:
        """The wall clock jumps by so much, seen from the true time; monotonic clocks do not."""
        self._clock_ahead_s = seconds
        self._write()

    def fill_disk(self, *, full: bool) -> None:
        """Nothing more can be written, or it can again."""
        self._full = full
        self._write()

    def _troubled(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self._shim),
            "RELAY_FAULTS_SWITCHES": str(self._switches),
            "RELAY_FAULTS_FOLDER": str(self.disk),
        }

    def _write(self) -> None:
        """In place: processes look at this file as memory."""
        if not self._switches.exists():
            self._switches.write_bytes(bytes(16))
        with self._switches.open("r+b") as switches:
            switches.write(struct.pack("=qq", int(self._clock_ahead_s * 1e9), self._full))

    def _wrap_git(self) -> None:
        self._programs.mkdir()
        git = shutil.which("git")
        troubled = " ".join(f"{name}='{value}'" for name, value in self._troubled().items())
        program = self._programs / "git"
        program.write_text(f'#!/bin/sh\nexec env {troubled} {git} "$@"\n')
        program.chmod(0o755)
