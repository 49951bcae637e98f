"""What is measured for the simulation, from what it is measured from."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.benchmarks.simulate_measure import Landing, of_landings, read_files


def result(file: str, seconds: float, *tests: tuple[str, float]) -> dict[str, Any]:
    """As `upstream` writes it. The last test is on the CPU only."""
    rows: list[dict[str, Any]] = [{"base": base, "spyre": {"seconds": took}} for base, took in tests]
    return {"file": file, "spyre": {"seconds": seconds}, "tests": [*rows, {"base": "cpu", "spyre": None}]}


def test_variants_of_a_test_are_added_up_and_the_first_file_is_not_charged_the_start() -> None:
    first = result("test/a.py", 30.0, ("a", 1.0), ("a", 2.0))
    others = [result(f"test/{name}.py", 5.0, (name, 3.0)) for name in ("b", "c")]
    found = read_files({"files": [first, *others]})
    assert found["test/a.py"].tests == {"a": (2, 3.0)}
    assert {file.beside_s for file in found.values()} == {2.0}


def test_landings_tell_hours_days_and_reverts() -> None:
    """Weekends do not count for the days."""
    times = ("2023-01-09 12", "2023-01-09 10", "2023-01-07 11", "2023-01-06 10")
    whens = [datetime.strptime(time, "%Y-%m-%d %H").replace(tzinfo=UTC) for time in times]
    landed = [Landing("a" * 40, when, "This" if number else 'Revert "that"') for number, when in enumerate(whens)]
    found = {name: one["value"] for name, one in of_landings(landed).items()}
    assert found["hours"] == [{10: 0.5, 11: 0.25, 12: 0.25}.get(hour, 0.0) for hour in range(24)]
    assert (found["merged_per_day"], found["broken"]) == (2, 0.25)
