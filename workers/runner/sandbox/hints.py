"""Why a bubblewrap that is installed does not start: read from what it said and from what the kernel allows here."""

from __future__ import annotations

import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

_SYS_ADMIN = 21
_BY_PROGRAM = "2"  # in the line Seccomp of /proc/self/status

_PROC_MASKED = (
    "This container hides parts of /proc, and the kernel then mounts no other: run it with `--security-opt "
    "systempaths=unconfined`, in Kubernetes with `procMount: Unmasked`"
)
_SETUID = (
    "bwrap is a setuid program here, and no-new-privileges keeps it from its rights: take that off the container or "
    "the unit, or let users make namespaces and `chmod u-s` bwrap"
)
_NO_ADMIN = "This root lacks the capability SYS_ADMIN: give it to the container, or run the worker as another user"
_NO_NAMESPACES = "This machine allows no user namespaces: sysctl -w user.max_user_namespaces=15000"
_ROOT_ALONE = "This machine allows user namespaces to root alone: sysctl -w kernel.unprivileged_userns_clone=1"
_APPARMOR = (
    "AppArmor keeps users from namespaces of their own: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or "
    "give /usr/bin/bwrap a profile that allows `userns`"
)
_FILTERED = (
    "The system call filter of this container or unit refuses namespaces or mounts: run it with `--security-opt "
    "seccomp=unconfined`, in Kubernetes with `seccompProfile: {type: Unconfined}`"
)
_ANY_ROOT = "In a container, give it the capability SYS_ADMIN, or run the worker as a user who may make namespaces"
_ANY_USER = "Let users make user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What decides whether a process may make namespaces and mounts. `most_namespaces` is None where nothing bounds
    them."""

    root: bool
    administers: bool
    most_namespaces: int | None
    cloning_forbidden: bool
    apparmor: bool
    filtered: bool
    sealed: bool
    proc_masked: bool
    setuid: bool

    @classmethod
    def read(cls, program: Path, proc: Path = Path("/proc")) -> Surroundings:
        """Of this process and the bubblewrap at `program`. What cannot be read restricts nothing."""
        status = dict(re.findall(r"^(\w+):\s*(\S+)", _text(proc / "self/status"), re.MULTILINE))
        most = _text(proc / "sys/user/max_user_namespaces").strip()
        return cls(
            root=os.geteuid() == 0,
            administers=bool(int(status.get("CapEff", "0"), 16) >> _SYS_ADMIN & 1),
            most_namespaces=int(most) if most.isdigit() else None,
            cloning_forbidden=_text(proc / "sys/kernel/unprivileged_userns_clone").strip() == "0",
            apparmor=_text(proc / "sys/kernel/apparmor_restrict_unprivileged_userns").strip() == "1",
            filtered=status.get("Seccomp") == _BY_PROGRAM,
            sealed=status.get("NoNewPrivs") == "1",
            proc_masked=bool(re.search(r" /proc/\S+ ", _text(proc / "self/mountinfo"))),
            setuid=program.exists() and bool(program.stat().st_mode & stat.S_ISUID),
        )


def next_step(words: str, around: Surroundings) -> str:
    """What keeps bubblewrap from starting, most certain first, and what to do; `words` are its own."""
    user = not around.root
    causes = (
        (around.proc_masked and "proc" in words, _PROC_MASKED),
        (around.setuid and around.sealed, _SETUID),
        (around.root and not around.administers, _NO_ADMIN),
        (user and around.most_namespaces == 0, _NO_NAMESPACES),
        (user and around.cloning_forbidden, _ROOT_ALONE),
        (user and around.apparmor, _APPARMOR),
        (around.filtered, _FILTERED),
        (around.root, _ANY_ROOT),
    )
    return next((step for holds, step in causes if holds), _ANY_USER)


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
