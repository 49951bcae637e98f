"""The account of the operator sweep; the sweep itself takes minutes and is no test."""

from __future__ import annotations

from tests.benchmarks.bench_operators import Check, summary


def check(dtype: str, kind: str, reason: str = "") -> Check:
    return Check("add", dtype, "forward", kind, reason, reason)


def test_a_share_is_of_the_checks_that_ran() -> None:
    """Each dtype has its own; what has no sample on the host is left out of it."""
    checks = [check("float32", "passed")] * 3 + [check("float32", "refused", "quantized"), check("float32", "left out")]
    text = summary([*checks, check("float16", "passed")])
    assert "float32: 4 checks ran, 75.00% passed (3 passed, 1 refused, 1 left out)" in text
    assert "float16: 1 checks ran, 100.00% passed (1 passed)" in text


def test_the_rest_is_listed_by_reason() -> None:
    """The most frequent reason stands first."""
    failed = check("float16", "failed", "AssertionError: N")
    text = summary([check("float32", "refused", "quantized"), failed, failed])
    assert text.splitlines()[-2:] == ["    2 failed: AssertionError: N", "    1 refused: quantized"]
