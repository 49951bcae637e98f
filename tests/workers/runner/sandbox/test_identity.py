"""Who the program is: never root, and never the user of another launch."""

from __future__ import annotations

import os

from tests.workers.runner.sandbox.inside import as_nobody
from workers.runner.sandbox.identity import Identity, new_identity


def test_launches_have_users_of_their_own() -> None:
    """So that a bound on one launch's processes is not used up by another's. Without root there is only one user."""
    users = {new_identity().user for _ in range(20)}
    assert 0 not in users
    assert len(users) == (20 if os.geteuid() == 0 else 1)


def test_no_number_is_larger_than_a_user_number_may_be() -> None:
    """The largest possible process number must fit as well."""
    identity = new_identity()
    assert identity.user + (2**22 - os.getpid()) * 63 < 2**31 - 1


def test_root_steps_down_and_others_need_not() -> None:
    down = Identity(user=70000, group=70001, namespaced=False).step_down()
    assert {"--reuid=70000", "--regid=70001", "--clear-groups", "--bounding-set=-all"} <= set(down)
    assert Identity(user=70000, group=70001, namespaced=True).step_down() == []


def test_processes_of_the_same_user_are_counted() -> None:
    """Where the kernel counts a user's processes over the machine, others must not use up the bound."""
    assert Identity(os.getuid(), os.getgid(), namespaced=False).processes_elsewhere() > 0
    assert Identity(user=0x7FFF_0000, group=0, namespaced=False).processes_elsewhere() == 0


def test_a_worker_without_rights_stays_who_it_is() -> None:
    if os.geteuid() == 0:
        with as_nobody():
            identity = new_identity()
            assert identity == Identity(os.geteuid(), os.getegid(), namespaced=True)
    else:
        assert new_identity() == Identity(os.geteuid(), os.getegid(), namespaced=True)
