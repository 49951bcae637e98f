"""The Python that mutants run in: `Place(root, tree, work).interpreter(name, laid)`.

An interpreter is a small program of ours that starts the real one in a mount namespace of its own, where each mutated
file lies over the installed one. Nobody else sees the mounts, and they end with the last process in it: nothing is
installed, changed or left behind but empty folders in `root` that are mounted on. Needs the right to mount.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from workers.runner.staging import code_folder

_ASK_S = 120
_ASK = "import importlib.util as u; print(u.find_spec('torch').submodule_search_locations[0])"
_SYSTEM = ("proc", "dev", "sys")
_HEAD = ("#!/bin/sh", "set -e")


class PlaceError(Exception):
    """Mutants cannot be run here; the message says why."""


class Place:
    """Where torch is installed: in the folder `root`, which holds a whole system, or, without one, beside the running
    Python. `tree` and `work` are the folders that tests have to see."""

    def __init__(self, root: Path | None, tree: Path, work: Path) -> None:
        self._root = root.resolve() if root is not None else None
        self._seen = tuple(dict.fromkeys((tree.resolve(), work.resolve(), code_folder().parent)))
        self._work = work.resolve()
        self._torch = self._package()

    def installed(self, path: str) -> Path:
        """The installed file of a source file (`torch/nn/init.py`), there or not, as this process sees it."""
        inside = self._torch.parent / path
        return inside if self._root is None else self._root / inside.relative_to("/")

    def interpreter(self, name: str, laid: Mapping[str, Path]) -> Path:
        """A program to call like Python, with the files `laid` (source path to file) over the installed ones."""
        mounts = [*self._system(), *(_mount(file, self.installed(path)) for path, file in laid.items())]
        file = self._work / "interpreters" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = (*_HEAD, *((_enter(),) if mounts else ()), *mounts, self._start())
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        file.chmod(0o700)
        return file

    def _system(self) -> tuple[str, ...]:
        if self._root is None:
            return ()
        system = [f"mount --rbind /{name} {_quoted(self._root / name)}" for name in _SYSTEM]
        targets = [(folder, self._root / folder.relative_to("/")) for folder in self._seen]
        for _, target in targets:
            target.mkdir(parents=True, exist_ok=True)
        return (*system, *(_mount(folder, target) for folder, target in targets))

    def _start(self) -> str:
        if self._root is None:
            return f'exec {_quoted(Path(sys.executable))} "$@"'
        chroot = shutil.which("chroot", path=os.defpath + ":/usr/sbin:/sbin") or "chroot"
        return f'exec {chroot} {_quoted(self._root)} /usr/bin/env -C "$PWD" /usr/bin/python3 "$@"'

    def _package(self) -> Path:
        """The installed `torch` folder, as its own Python names it. Raises `PlaceError`."""
        if self._root is None:
            spec = importlib.util.find_spec("torch")
            if spec is None or not spec.submodule_search_locations:
                raise PlaceError("this Python has no torch; install it, or name a system that has it with --root")
            return Path(spec.submodule_search_locations[0])
        self._torch = Path("/")
        asking = [str(self.interpreter("ask", {})), "-c", _ASK]
        done = subprocess.run(asking, capture_output=True, text=True, cwd=self._work, timeout=_ASK_S, check=False)
        if done.returncode:
            raise PlaceError(f"no Python with torch answers in {self._root}: {done.stderr[-500:]}")
        return Path(done.stdout.strip())


def _enter() -> str:
    """Comes back into the same script in a new namespace. A process that is replaced keeps its number."""
    user = "" if os.geteuid() == 0 else " --map-root-user"
    enter = f'exec unshare --mount{user} --propagation private "$0" "$@"'
    return f'[ "$MUTATION_MOUNTS" = "$$" ] || {{ export MUTATION_MOUNTS="$$"; {enter}; }}\nunset MUTATION_MOUNTS'


def _mount(folder: Path, target: Path) -> str:
    return f"mount --bind {_quoted(folder)} {_quoted(target)}"


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
