"""Tests that run by lot although they were left out, so that it is seen what leaving out misses.

Drawn from everything that the device could run and the plan leaves out, also what no stage ever considered; each test
by itself and with the same chance, so that misses among them, divided by the share, estimate the misses of all. The lot
is a digest of the plan's key and the test: the same plan draws the same tests.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from selector.types import BaseTest, Candidate, Reason, Stage

RULE = "holdout"


def drawn(left_out: Iterable[Candidate], share: float, key: str) -> tuple[Candidate, ...]:
    """The candidates that `share` (0 to 1) of the lots fall on, in their order, with the reason."""
    if not share:
        return ()
    reason = Reason(Stage.MANIFESTS, RULE, f"left out, and drawn by lot: {share:.1%} of what is left out runs")
    return tuple(candidate.because(reason) for candidate in left_out if _lot(candidate.test, key) < share)


def _lot(test: BaseTest, key: str) -> float:
    """From 0 up to 1, evenly."""
    return int.from_bytes(hashlib.sha256(f"{key}\0{test}".encode(errors="surrogatepass")).digest()[:6]) / (1 << 48)
