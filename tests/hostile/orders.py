"""Which attacks are given to a worker, in their order: what is left by one file has to be there for the next."""

from __future__ import annotations

Order = tuple[str, float | None]


def _of(file: str, cls: str, *names: str) -> tuple[Order, ...]:
    return tuple((f"{file}.py::{cls}::{name}", None) for name in names)


#: These end with a report of every try.
REPORTING = (
    *_of("test_reading", "TestReading", "test_environment", "test_memory", "test_the_warm_parent", "test_files"),
    *_of("test_reading", "TestReading", "test_other_runs"),
    *_of("test_poisoning", "TestPoisoning", "test_folders", "test_files", "test_python"),
    *_of("test_network", "TestNetwork", "test_families", "test_servers"),
    *_of("test_escaping", "TestEscaping", "test_calls", "test_namespaces", "test_rights", "test_devices"),
    *_of("test_signals", "TestSignals", "test_others"),
    *_of("test_leaving", "TestLeaving", "test_leave"),
    *_of("test_next", "TestNext", "test_look"),
    *_of("test_exhausting", "TestExhausting", "test_processes", "test_memory", "test_room", "test_descriptors"),
    *_of("test_outliving", "TestOutliving", "test_leave"),
)
REST = (
    *_of("test_network", "TestNetwork", "test_pairs"),
    *_of("test_exhausting", "TestExhausting", "test_output", "test_names"),
    *_of("test_outliving", "TestOutliving", "test_alarm", "test_hold"),
    *_of("test_forging", "TestForging", "test_a_lie", "test_a_bad_line", "test_too_long_a_time", "test_sister"),
)
ENDLESS: Order = ("test_exhausting.py::TestExhausting::test_processor", 1.0)
EVERYBODY: Order = ("test_signals.py::TestSignals::test_everybody", None)
HONEST = _of("test_honest", "TestHonest", "test_one", "test_two", "test_room")
