"""A bubblewrap that does not start: the real cause and the next step, for each machine it was seen on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workers.runner.sandbox.hints import Surroundings, next_step

FREE = Surroundings(
    root=False, administers=False, most_namespaces=None, cloning_forbidden=False, apparmor=False, filtered=False,
    sealed=False, proc_masked=False, setuid=False,
)  # fmt: skip
NO_NAMESPACE = "bwrap: No permissions to create new namespace"
NO_MAP = "bwrap: setting up uid map: Permission denied"
NO_PROC = "bwrap: Can't mount proc on /newroot/proc: Operation not permitted"


@pytest.mark.parametrize(
    ("words", "around", "step"),
    [
        (NO_PROC, {"proc_masked": True}, "systempaths=unconfined"),
        (NO_PROC, {"proc_masked": True, "root": True, "administers": True}, "procMount: Unmasked"),
        (NO_NAMESPACE, {"root": True}, "lacks the capability SYS_ADMIN"),
        (NO_NAMESPACE, {"most_namespaces": 0}, "sysctl -w user.max_user_namespaces=15000"),
        (NO_NAMESPACE, {"cloning_forbidden": True}, "kernel.unprivileged_userns_clone=1"),
        (NO_MAP, {"apparmor": True}, "kernel.apparmor_restrict_unprivileged_userns=0"),
        (NO_NAMESPACE, {"filtered": True, "proc_masked": True}, "seccomp=unconfined"),
        (NO_NAMESPACE, {"filtered": True, "root": True, "administers": True}, "seccomp=unconfined"),
        (NO_NAMESPACE, {"setuid": True, "sealed": True}, "no-new-privileges"),
        (NO_NAMESPACE, {}, "Let users make user namespaces"),
        (NO_NAMESPACE, {"root": True, "administers": True}, "SYS_ADMIN"),
        # What restricts users does not restrict root.
        (NO_NAMESPACE, {"root": True, "administers": True, "apparmor": True, "most_namespaces": 0}, "In a container"),
    ],
)
def test_the_hint_names_the_cause_and_the_next_step(words: str, around: dict[str, bool], step: str) -> None:
    assert step in next_step(words, replace(FREE, **around))


def test_the_surroundings_are_read_from_the_kernels_files(tmp_path: Path) -> None:
    for name, text in {
        "self/status": "Name:\tpython\nCapEff:\t00000000a80425fb\nNoNewPrivs:\t1\nSeccomp:\t2\n",
        "self/mountinfo": "31 24 0:5 / / rw - overlay\n32 31 0:6 /null /proc/kcore rw - tmpfs\n",
        "sys/user/max_user_namespaces": "0\n",
        "sys/kernel/unprivileged_userns_clone": "0\n",
        "sys/kernel/apparmor_restrict_unprivileged_userns": "1\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    program = tmp_path / "bwrap"
    program.touch()
    program.chmod(0o4755)
    read = Surroundings.read(program, tmp_path)
    assert replace(read, root=True) == Surroundings(
        root=True, administers=False, most_namespaces=0, cloning_forbidden=True, apparmor=True, filtered=True,
        sealed=True, proc_masked=True, setuid=True,
    )  # fmt: skip


def test_a_machine_that_tells_nothing_restricts_nothing(tmp_path: Path) -> None:
    assert replace(Surroundings.read(tmp_path / "bwrap", tmp_path), root=False) == FREE
