"""What holds for every worker that was attacked, whatever stands between it and the tests."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from relay.contract import ShardOutcome
from tests.hostile.machine import BROKER, Machine, Report
from tests.hostile.orders import HONEST, Order
from tests.hostile.remains import NAME, files_of, left_behind
from tests.waiting import until
from tests.workers.relay_double import TOKEN

#: Of the kernel, by name; any other error would be a slip of the attack's.
REFUSALS = {
    *("EPERM", "EACCES", "ENOENT", "EROFS", "EXDEV", "ENOSYS", "ESRCH", "EAFNOSUPPORT", "ECONNREFUSED", "ENOMEM"),
    *("MemoryError", "ValueError", "OperationalError", "[Errno -3] Temporary failure in name resolution", "nothing"),
}
#: What was found is no try.
MEASURES = {
    *("processes", "threads", "files", "descriptors", "left", "user", "capabilities", "new privileges", "filter"),
    *("tmp", "/dev/shm", "/", "/dev", "/run", "/run/lock", "/opt"),  # noqa: S108 - names of measures
}
#: How each of the rest has to end, wherever it runs.
ENDS = {
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


@dataclass
class Attacked:
    """The machine after the attack with `orders`, and what its files looked like before."""

    machine: Machine
    orders: tuple[Order, ...]
    before: dict[str, tuple[int, int, int]]

    @classmethod
    def by(cls, machine: Machine, orders: tuple[Order, ...]) -> Attacked:
        before = _kept(machine)
        machine.run(orders)
        return cls(machine, orders, before)

    def measures(self) -> dict[str, Any]:
        """What there was to take."""
        reports = [report for report in self.machine.reports.values() if report.told]
        return {name: seen for report in reports for name, seen in report.tries.items() if name in MEASURES}


def every_try_is_refused(report: Report, but: Collection[str] = ()) -> None:
    """By the kernel, in a way it was meant to be; `but` are those that get through here."""
    assert report.observations == ["failed"]
    assert set(report.got) == set(but)
    tries = {how: seen for how, seen in report.tries.items() if how not in MEASURES and how not in but}
    assert not {how: seen for how, seen in tries.items() if seen not in {*REFUSALS, "left"}}


def every_test_is_seen_as_what_it_was(attacked: Attacked) -> None:
    """Floods, lies with the runner's own key, processes that stay."""
    ends = {name.rpartition("::")[2]: attacked.machine.reports[name].observations for name, _ in attacked.orders}
    assert {name: seen for name, seen in ends.items() if name in ENDS} == {
        name: seen for name, seen in ENDS.items() if name in ends
    }
    honest_report(attacked.machine.reports)
    results = attacked.machine.relay.results
    ordered = sorted(f"test/{name}" for name, _ in attacked.orders)
    assert sorted(result.id for result in results[: len(ordered)]) == ordered
    assert all(0 <= attempt.duration_s < 100 for result in results for attempt in result.attempts)
    assert not any("hostile" in operator for result in results for operator in result.operators)


def nothing_gets_out(attacked: Attacked) -> None:
    """No secret with a result or in a log; no visit to a server; nobody was ended."""
    machine = attacked.machine
    told = [result.model_dump_json() for result in machine.relay.results] + [text for _, text in machine.relay.log]
    for secret in (TOKEN, "planted-secret-", BROKER):
        assert not [text for text in told if secret in text]
        assert secret not in machine.log()
    assert machine.doors.visits == []
    assert machine.victim.poll() is None


def nothing_is_left(attacked: Attacked) -> None:
    """No process, and no file that is new, gone or changed."""
    machine = attacked.machine
    until(lambda: not left_behind(), f"the end of every {NAME}")
    assert _kept(machine) == attacked.before
    shards = machine.work / "shards"
    # A shard's end is told before its folder is removed.
    until(lambda: [folder.name for folder in shards.iterdir()] == ["7-of-another-run"], "the end of other folders")


def the_worker_works_on(attacked: Attacked) -> None:
    """The same processes do the next shard right."""
    machine = attacked.machine
    processes = machine.lasting()
    honest_report(machine.run(HONEST))
    assert [end.outcome for end in machine.relay.finished] == [ShardOutcome.DONE, ShardOutcome.DONE]
    assert machine.lasting() == processes


def honest_report(reports: dict[str, Report]) -> None:
    """The honest file was told as it is, in the time of a file that does nothing."""
    seen = {name.rpartition("::")[2]: reports[name] for name, _ in HONEST}
    ends = {name: report.observations for name, report in seen.items()}
    assert ends == {"test_one": ["passed"], "test_two": ["failed"], "test_room": ["passed"]}
    assert "as it should" in seen["test_two"].detail
    assert all(report.seconds < 10 for report in seen.values())


def _kept(machine: Machine) -> dict[str, tuple[int, int, int]]:
    folders = ("home", "device", "work/shards/7-of-another-run", "work/trees/of-another-run")
    return {f"{folder}/{name}": seen for folder in folders for name, seen in files_of(machine.folder / folder).items()}
