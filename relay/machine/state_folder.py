"""The state folder between programs of one machine: who holds it, and where the service that holds it is.

Owns the lock, `service.json` and private files. One relay per folder: the lock is the kernel's and ends with its
holder, however that ends; that the lock file exists means nothing. Neither the database nor the secrets a first start
makes (`relay.settings`) are read here.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relay.failures import Failure

LOCK_FILE = "relay.lock"
SERVICE_FILE = "service.json"


class AlreadyRunning(Failure):
    """Another relay holds the state folder."""

    code = "already_running"


class NoStateFolder(Failure):
    """The state folder cannot be made."""

    code = "no_state_folder"


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Make the folder if needed and hold it for this process.

    Raises `AlreadyRunning` at once when another process holds it, `NoStateFolder` when it cannot be made.
    """
    descriptor = _open_lock(folder)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise _already_running(folder, os.pread(descriptor, 20, 0)) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def announce(folder: Path, url: str) -> Iterator[None]:
    """Tell other programs of this machine where the service is, for as long as it is there."""
    path = folder / SERVICE_FILE
    write_private(path, json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def demo_folder(state_dir: Path) -> Path:
    """Where `relay demo` keeps its own state, apart from a real record."""
    return state_dir / "demo"


def announced_url(folder: Path) -> str | None:
    """Where the running service of this folder is. None when none is announced, or its process is gone."""
    try:
        service = json.loads((folder / SERVICE_FILE).read_text(encoding="utf-8"))
        url, pid = str(service["url"]), int(service["pid"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return url if _alive(pid) else None


def write_private(path: Path, text: str) -> None:
    """Replace the file in one step, readable by this user only: nobody reads half of it."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.unlink(missing_ok=True)
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    draft.replace(path)


def _open_lock(folder: Path) -> int:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        hint = "set RELAY_STATE_DIR to a folder this user may write"
        raise NoStateFolder(f"the state folder {folder} cannot be used: {error.strerror}", hint) from error


def _already_running(folder: Path, holder: bytes) -> AlreadyRunning:
    pid = holder.decode(errors="replace").strip()
    known = pid.isdecimal()
    who = f"process {pid}" if known else "another process"
    stop = f"stop it with `kill {pid}`" if known else "stop it"
    url = announced_url(folder)
    use = f"use it at {url}" if url else "use that one"
    return AlreadyRunning(
        f"a relay is already running on {folder} ({who})", f"{use}, {stop}, or set RELAY_STATE_DIR to another folder"
    )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
