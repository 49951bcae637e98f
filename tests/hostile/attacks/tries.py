"""What a hostile test file tries, and how far each try got: told in the message that the file fails with.

Copied beside the attacks and imported by them inside. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = json.loads(Path(__file__).with_name("facts.json").read_text())
LIBC = ctypes.CDLL(None, use_errno=True)
GOT = "GOT"
#: Never written out, so that a file with them is one of the worker's and not one of these.
SECRETS = tuple(
    word.encode() for word in ("worker-token" + "-of-the-test", "planted" + "-secret-", "broker" + "-of-the-worker")
)
#: System call numbers: x86-64, then those of every other machine. From 424 on they are the same.
_OLD = {
    "ptrace": (101, 117), "clone": (56, 220), "mount": (165, 40), "chroot": (161, 51), "pivot_root": (155, 41),
    "setns": (308, 268), "unshare": (272, 97), "bpf": (321, 280), "keyctl": (250, 219), "add_key": (248, 217),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "process_vm_readv": (310, 270), "kcmp": (312, 272),
    "process_vm_writev": (311, 271), "reboot": (169, 142), "init_module": (175, 105), "swapoff": (168, 225),
    "sethostname": (170, 161), "clock_settime": (227, 112), "acct": (163, 89), "kexec_load": (246, 104),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265), "prlimit64": (302, 261),
    "memfd_create": (319, 279),
}  # fmt: skip
_NEW = {
    "io_uring_setup": 425, "open_tree": 428, "move_mount": 429, "fsopen": 430, "pidfd_open": 434, "clone3": 435,
    "pidfd_getfd": 438,
}  # fmt: skip


class Tries:
    """Notes of one test. What must not work is `must_fail` or `must_find_nothing`, anything else a `note`."""

    def __init__(self) -> None:
        self.seen: dict[str, object] = {}

    def must_fail(self, name: str, function: Callable[..., object], *arguments: object) -> None:
        """A try that got through when the function returns at all."""
        self._try(name, lambda: (function(*arguments), True)[1])

    def must_find_nothing(self, name: str, function: Callable[..., object], *arguments: object) -> None:
        """A try that got through when the function returns something."""
        self._try(name, lambda: bool(function(*arguments)))

    def note(self, name: str, value: object) -> None:
        self.seen[name] = value

    def report(self) -> None:
        """The end of every hostile test."""
        raise AssertionError("TRIES " + json.dumps(self.seen) + " END")

    def _try(self, name: str, function: Callable[[], bool]) -> None:
        try:
            self.seen[name] = GOT if function() else "nothing"
        except OSError as error:
            self.seen[name] = errno.errorcode.get(error.errno or 0, str(error)[:60])
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing was got
            self.seen[name] = type(error).__name__


def number(name: str) -> int:
    return _NEW[name] if name in _NEW else _OLD[name][0 if os.uname().machine == "x86_64" else 1]


def call(name: str, *arguments: int | bytes | None) -> int:
    """A system call by name. Raises OSError with what the kernel says."""
    words = [word if word is None or isinstance(word, bytes) else ctypes.c_long(word) for word in arguments]
    return checked(LIBC.syscall(ctypes.c_long(number(name)), *words))


def checked(result: int) -> int:
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def holds_secret(data: bytes) -> bool:
    return any(secret in data for secret in SECRETS)


def secret_in(path: str | Path) -> bool:
    """Whether the file can be read and tells something of the worker."""
    with Path(path).open("rb") as file:
        return holds_secret(file.read(4 << 20))


def strangers() -> list[int]:
    """Processes that are no part of this launch: those the worker named, and all that can be seen without our mark."""
    others = {*map(int, FACTS["pids"]), *(pid for pid in visible() if not _ours(pid))}
    return sorted(others - {os.getppid()})


def visible() -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            yield int(folder.name)


def _ours(pid: int) -> bool:
    # The parents of a test carry the same mark; what cannot be read is taken for somebody else's.
    try:
        return os.environ["OOT_RUNNER_CHILD"].encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


def any_of(function: Callable[[Any], object], things: Iterable[Any]) -> list[Any]:
    """Those of `things` for which the function returns something; errors are a no."""
    found = []
    for thing in things:
        try:
            if function(thing):
                found.append(thing)
        except (OSError, ValueError):
            continue
    return found
