"""A real worker in its whole sandbox is given a change whose tests attack it: nothing gets through, and it works on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from relay.contract import ShardOutcome
from tests.hostile.machine import BROKER, NAME, Machine, a_machine, files_of, left_behind, missing_sandbox
from tests.hostile.orders import ENDLESS, EVERYBODY, HONEST, REPORTING, REST, honest_report
from tests.waiting import until
from tests.workers.relay_double import TOKEN

pytestmark = pytest.mark.e2e
#: Of the kernel, by name; any other error would be a slip of the attack's.
REFUSALS = {
    *("EPERM", "EACCES", "ENOENT", "EROFS", "ENOSYS", "ESRCH", "EAFNOSUPPORT", "ECONNREFUSED", "ENOMEM", "nothing"),
    *("MemoryError", "ValueError", "OperationalError", "[Errno -3] Temporary failure in name resolution"),
}
#: What was found is no try.
MEASURES = {
    *("processes", "threads", "files", "descriptors", "tmp", "/dev/shm", "left"),  # noqa: S108 - a name
    *("user", "capabilities", "new privileges", "filter"),
}


@dataclass
class Attacked:
    """The machine after the attack, and what its files looked like before."""

    machine: Machine
    before: dict[str, tuple[int, int, int]]


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    missing_sandbox()
    with a_machine(tmp_path_factory.mktemp("machine"), RELAY_SANDBOX="required") as machine:
        before = _kept(machine)
        machine.run([*REPORTING, *REST, ENDLESS, EVERYBODY, *HONEST])
        yield Attacked(machine, before)


@pytest.mark.parametrize("name", [name for name, _ in REPORTING])
def test_nothing_gets_through(attacked: Attacked, name: str) -> None:
    """Each try is refused by the kernel, in a way it was meant to be."""
    report = attacked.machine.reports[name]
    assert report.observations == ["failed"]
    assert report.got == {}
    said = {how: seen for how, seen in report.tries.items() if how not in MEASURES and seen not in REFUSALS}
    assert {how for how, seen in said.items() if seen != "left" and "director" not in str(seen)} <= {"/", "/dev"}


def test_what_there_is_to_take_is_bounded(attacked: Attacked) -> None:
    reports = [report for report in attacked.machine.reports.values() if report.told]
    tries = {name: seen for report in reports for name, seen in report.tries.items()}
    assert 0 < tries["processes"] < 256
    assert 0 < tries["threads"] < 256
    assert tries["descriptors"] < 4096
    assert (tries["tmp"], tries["/dev/shm"]) == (512, 512)  # noqa: S108 -- MiB, inside
    assert tries["user"] != 0
    assert set(tries["capabilities"].values()) == {"0" * 16}
    assert (tries["new privileges"], tries["filter"]) == ("1", "2")


def test_the_rest_of_the_attack_changes_no_outcome(attacked: Attacked) -> None:
    """Floods, lies with the runner's own key, processes that stay: each test is seen as what it was."""
    reports = attacked.machine.reports
    assert {name.rpartition("::")[2]: reports[name].observations for name, _ in (*REST, ENDLESS, EVERYBODY)} == {
        "test_pairs": ["passed"],
        "test_output": ["failed"],
        "test_names": ["failed"],
        "test_alarm": ["passed"],
        "test_hold": ["passed"],
        "test_a_lie": ["passed"],
        "test_a_bad_line": ["passed"],
        "test_too_long_a_time": ["passed"],
        "test_sister": ["failed"],
        "test_processor": ["timed_out", "timed_out"],
        "test_everybody": ["crashed", "crashed"],
    }
    assert honest_report(reports)


def test_only_ordered_tests_have_a_result_and_no_value_is_odd(attacked: Attacked) -> None:
    results = attacked.machine.relay.results
    ordered = [name for name, _ in (*REPORTING, *REST, ENDLESS, EVERYBODY, *HONEST)]
    assert sorted(result.id for result in results) == sorted(f"test/{name}" for name in ordered)
    seconds = [attempt.duration_s for result in results for attempt in result.attempts]
    assert all(0 <= spent < 100 for spent in seconds)
    assert not any(operator for result in results for operator in result.operators if "hostile" in operator)


def test_no_secret_leaves_with_a_result_or_in_a_log(attacked: Attacked) -> None:
    machine = attacked.machine
    told = [result.model_dump_json() for result in machine.relay.results] + [text for _, text in machine.relay.log]
    for secret in (TOKEN, "planted-secret-", BROKER):
        assert not [text for text in told if secret in text]
        assert secret not in machine.log()


def test_nobody_was_reached(attacked: Attacked) -> None:
    assert attacked.machine.doors.visits == []
    assert attacked.machine.victim.poll() is None


def test_no_process_and_no_file_is_left(attacked: Attacked) -> None:
    machine = attacked.machine
    until(lambda: not left_behind(), f"the end of every {NAME}")
    assert _kept(machine) == attacked.before
    assert [folder.name for folder in (machine.work / "shards").iterdir()] == ["7-of-another-run"]


def test_the_worker_does_its_next_shard_right(attacked: Attacked) -> None:
    """The same process, in the time it always takes."""
    machine = attacked.machine
    family = machine.pids()
    assert honest_report(machine.run(HONEST))
    assert machine.relay.finished[-1].outcome is ShardOutcome.DONE
    assert machine.pids() == family


def _kept(machine: Machine) -> dict[str, tuple[int, int, int]]:
    folders = ("home", "device", "work/shards/7-of-another-run", "work/trees/of-another-run")
    return {f"{folder}/{name}": seen for folder in folders for name, seen in files_of(machine.folder / folder).items()}
