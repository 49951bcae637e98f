"""No wall: a scrubbed environment and a session of its own. Holds honest accidents, not malice."""

from __future__ import annotations

import subprocess
from pathlib import Path

from workers.runner.sandbox.launch import Launch


class Unconfined:
    """Runs programs as the worker's own user, with its network and its files. `problem` says why there is no more."""

    name = "none"

    def __init__(self, problem: str) -> None:
        self.problem = problem

    def temporary_root(self, scratch: Path) -> Path:
        return scratch

    def start(self, launch: Launch) -> subprocess.Popen[bytes]:
        root = str(self.temporary_root(launch.scratch))
        output = subprocess.DEVNULL if launch.output is None else launch.output
        return subprocess.Popen(
            launch.argv,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=launch.environment | {"HOME": root, "TMPDIR": root},
            cwd=launch.directory,
            pass_fds=launch.inherited,
            start_new_session=True,
        )
