"""A real worker in its whole sandbox is given a change whose tests attack it: nothing gets through, and it works on."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.hostile.claims import (
    Attacked,
    every_test_is_seen_as_what_it_was,
    every_try_is_refused,
    nothing_gets_out,
    nothing_is_left,
    the_worker_works_on,
)
from tests.hostile.machine import a_machine, missing_sandbox
from tests.hostile.orders import ENDLESS, EVERYBODY, HONEST, REPORTING, REST

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    missing_sandbox()
    with a_machine(tmp_path_factory.mktemp("machine"), RELAY_SANDBOX="required") as machine:
        yield Attacked.by(machine, (*REPORTING, *REST, ENDLESS, EVERYBODY, *HONEST))


@pytest.mark.parametrize("name", [name for name, _ in REPORTING])
def test_nothing_gets_through(attacked: Attacked, name: str) -> None:
    every_try_is_refused(attacked.machine.reports[name])


def test_what_there_is_to_take_is_bounded(attacked: Attacked) -> None:
    found = attacked.measures()
    assert 0 < found["processes"] < 256
    assert 0 < found["threads"] < 256
    assert found["descriptors"] < 4096
    assert (found["tmp"], found["/dev/shm"]) == (512, 512)  # noqa: S108 -- MiB, inside
    assert found["user"] != 0
    assert found["capabilities"] == dict.fromkeys(("CapEff", "CapPrm", "CapAmb", "CapBnd"), "0" * 16)
    assert (found["new privileges"], found["filter"]) == ("1", "2")
    assert not [name for name in ("/", "/dev", "/run", "/run/lock", "/opt") if isinstance(found[name], int)]


def test_the_attack_changes_no_outcome_of_others(attacked: Attacked) -> None:
    every_test_is_seen_as_what_it_was(attacked)


def test_no_secret_and_no_word_gets_out(attacked: Attacked) -> None:
    nothing_gets_out(attacked)


def test_no_process_and_no_file_is_left(attacked: Attacked) -> None:
    nothing_is_left(attacked)


def test_the_worker_does_its_next_shard_right(attacked: Attacked) -> None:
    the_worker_works_on(attacked)
