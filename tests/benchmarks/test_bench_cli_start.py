"""The account of starts; how long they take is a figure, not a test."""

from __future__ import annotations

from tests.benchmarks.bench_cli_start import LINES, Start, line_of, start


def test_the_median_stands_beside_the_best() -> None:
    """One slow start does not move it."""
    row = line_of("relay --help", [Start(100, 90), Start(110, 95), Start(900, 91)])
    assert row.split() == ["relay", "--help", "110", "ms", "91", "ms", "100", "ms"]


def test_a_start_is_measured_whole() -> None:
    """A program that works for a while costs at least that."""
    busy = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass"
    measured = start(("-c", busy))
    assert measured.processor_ms >= 190
    assert measured.wall_ms >= 190
    assert "relay --help" in LINES
