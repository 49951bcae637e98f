"""`--reload`: the same command as a child, started again whenever the source of the relay changes.

For people who work on the relay. Looks at modification times twice a second, standard library only. A child that cannot
start (a syntax error, say) is not the end: the next change starts it again.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from relay.cli import reloading_text
from relay.cli.foreground import watching_signals
from relay.cli.output import Output
from relay.machine.listening import listen

#: What takes effect with a new start only.
_SUFFIXES = frozenset({".py", ".html", ".css", ".js", ".svg", ".json"})
_LOOK_S = 0.5
#: A service ends its workers and its open requests before.
_GRACE_S = 20.0

Stamp = Mapping[Path, int]


def serve_again_on_changes(host: str, port: int) -> None:
    """Run the command line of this process without `--reload`, until a signal comes. Raises `NotStarted` when the
    port is taken."""
    with listen(host, port) as listener:  # a free one is chosen once, so that the address stays
        chosen = listener.getsockname()[1]
    command = command_line(sys.argv, port, chosen)
    packages = [Path(__file__).parents[2] / name for name in ("relay", "selector", "workers")]
    with watching_signals() as stop:
        keep_running(command, packages, stop, Output())


def command_line(given: Sequence[str], port: int, chosen: int) -> list[str]:
    """What the child is called with: our own words, without `--reload`, and with the port that was chosen."""
    words = [word for word in given[1:] if word != "--reload"]
    return [sys.executable, "-m", "relay", *words, *(() if port else ("--port", str(chosen)))]


def keep_running(command: Sequence[str], folders: Sequence[Path], stop: threading.Event, out: Output) -> None:
    """Run it, and again after each change below the folders. A child that has ended by itself waits for the next."""
    while not stop.is_set():
        seen = stamp(folders)
        with subprocess.Popen(command, start_new_session=True) as child:
            try:
                changed = _wait_for_change(child, folders, seen, stop, out)
            finally:
                end(child)
        if changed:
            out.note(reloading_text.changed(str(changed)))


def _wait_for_change(
    child: subprocess.Popen[bytes], folders: Sequence[Path], seen: Stamp, stop: threading.Event, out: Output
) -> Path | None:
    told = False
    while not stop.wait(_LOOK_S):
        now = stamp(folders)
        if now != seen:
            return next(iter(sorted({path for path, _ in set(now.items()) ^ set(seen.items())})))
        if child.poll() is not None and not told:
            out.note(reloading_text.ended(child.returncode))
            told = True
    return None


def stamp(folders: Sequence[Path]) -> Stamp:
    """When each file that counts was last changed, in nanoseconds."""
    return dict(_stamped(folders))


def _stamped(folders: Sequence[Path]) -> Iterator[tuple[Path, int]]:
    for folder in folders:
        for root, inner, names in os.walk(folder):
            inner[:] = [name for name in inner if not name.startswith((".", "__pycache__"))]
            for path in (Path(root, name) for name in names):
                if path.suffix in _SUFFIXES:
                    try:
                        yield path, path.stat().st_mtime_ns
                    except FileNotFoundError:  # an editor replaces it just now
                        continue


def end(child: subprocess.Popen[bytes]) -> None:
    """Ask it to stop; after the grace the whole group is killed."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(_GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
