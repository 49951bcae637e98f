"""Running an operator's build command on an upstream tree: in the sandbox, with a time limit, its last words kept.

The command is the operator's, what it compiles is anybody's. It is never given to a shell, sees nothing of the worker's
environment, and writes into its own two folders only.
"""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from workers.runner.sandbox import Launch, Sandbox, interpreter_folders

OUTPUT_KEPT_BYTES = 8_000
_POLL_S = 0.5
_READ_BYTES = 1 << 16
#: After the command has ended, what it left running may hold its output open for ever.
_DRAIN_S = 2.0


class BuildCommandError(ValueError):
    """A text that is no command; the message is the end of a sentence about it."""


def parsed_command(text: str) -> tuple[str, ...]:
    """The words of a build command, quoted as for a shell; no shell ever sees it. Raises `BuildCommandError`."""
    try:
        words = tuple(shlex.split(text))
    except ValueError as error:
        raise BuildCommandError(f"cannot be cut into words ({error}); quote it as for a shell") from error
    if not words:
        raise BuildCommandError("is empty; unset it, or name the program that builds torch")
    return words


class BuildFailedError(Exception):
    """A build gave no torch. `tail` is the end of its output: untrusted text."""

    def __init__(self, reason: str, tail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.tail = tail


class BuildStoppedError(Exception):
    """Nobody wants the build any more."""


@dataclass(frozen=True, slots=True)
class BuildFolders:
    """The folders of one build: `source` holds the tree, `output` gets what is built, `scratch` is for the sandbox."""

    source: Path
    output: Path
    scratch: Path

    @classmethod
    def below(cls, folder: Path) -> BuildFolders:
        """Make `output` and `scratch`; `source` is made by the checkout."""
        folders = cls(folder / "source", folder / "output", folder / "scratch")
        folders.output.mkdir()
        folders.scratch.mkdir()
        return folders


def run_build(
    argv: Sequence[str],
    python: Path,
    folders: BuildFolders,
    *,
    sandbox: Sandbox,
    timeout_s: float,
    should_stop: Callable[[], bool],
) -> None:
    """Run the command to its end.

    Raises:
        BuildFailedError: when it cannot be started, ends with another code than 0, or takes longer than `timeout_s`.
        BuildStoppedError: once `should_stop` answers True.
    """
    tail = _Tail()
    with _started(argv, python, folders, sandbox) as (process, output):
        deadline = time.monotonic() + timeout_s
        while process.poll() is None:
            if tail.ended:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_POLL_S)
            else:
                tail.read(output, _POLL_S)
            if should_stop():
                raise BuildStoppedError
            if time.monotonic() > deadline:
                raise BuildFailedError(f"The build did not end within {timeout_s:g} s.", tail.text)
        drained = time.monotonic() + _DRAIN_S
        while time.monotonic() < drained and tail.read(output, 0):
            pass
    if process.returncode != 0:
        raise BuildFailedError(f"The build ended with {process.returncode}.", tail.text)


@contextmanager
def _started(
    argv: Sequence[str], python: Path, folders: BuildFolders, sandbox: Sandbox
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The running command and its output. At the end all of it is gone."""
    for folder in (folders.source, folders.output, folders.scratch):
        _open_to_all(folder)
    reading, writing = os.pipe()
    try:
        os.set_blocking(reading, False)
        try:
            process = sandbox.start(_launch(argv, python, folders, writing))
        except (OSError, ValueError) as error:
            raise BuildFailedError(f"The build command cannot be started: {error}.") from error
        finally:
            os.close(writing)
        try:
            yield process, reading
        finally:
            sandbox.end(process)
    finally:
        os.close(reading)


def _open_to_all(folder: Path) -> None:
    """The sandbox's user is another one, and builds write beside their sources. The folder above stays closed."""
    for place, folders, files in os.walk(folder):
        for name in (".", *folders, *files):
            path = Path(place, name)
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o777 if path.is_dir() else 0o666))


def _launch(argv: Sequence[str], python: Path, folders: BuildFolders, output: int) -> Launch:
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": "C.UTF-8",
        "RELAY_BUILD_SOURCE": str(folders.source),
        "RELAY_BUILD_OUTPUT": str(folders.output),
        "RELAY_BUILD_PYTHON": str(python),
    }
    return Launch(
        argv=tuple(argv),
        environment=environment,
        directory=folders.source,
        readable=tuple(dict.fromkeys((*interpreter_folders(python), *_named(argv)))),
        scratch=folders.scratch,
        output=output,
        writable=(folders.source, folders.output),
    )


def _named(argv: Sequence[str]) -> Iterator[Path]:
    """What the command names by an absolute path is what the operator wants it to see; and its program."""
    program = shutil.which(argv[0])
    for path in map(Path, (*((program,) if program else ()), *argv)):
        if path.is_absolute() and path.exists():
            yield path


class _Tail:
    """The end of an output that may be endless."""

    def __init__(self) -> None:
        self._bytes = b""
        self.ended = False

    def read(self, descriptor: int, wait_s: float) -> bool:
        """Take what is there, after at most `wait_s` seconds; False when there was nothing, or there is no more."""
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            if not selector.select(wait_s):
                return False
        piece = os.read(descriptor, _READ_BYTES)
        self.ended = not piece
        self._bytes = (self._bytes + piece)[-OUTPUT_KEPT_BYTES:]
        return bool(piece)

    @property
    def text(self) -> str:
        return self._bytes.decode("utf-8", "replace")
