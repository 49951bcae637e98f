"""Stage 4 on collected tests, for a run: every test with what is expected of it.

A thin caller of `resolution.py`; what a manifest means is decided there.
"""

from __future__ import annotations

from collections.abc import Sequence

from selector.manifests.load import ManifestSet
from selector.manifests.profiles import Profile
from selector.manifests.resolution import Resolution, resolve
from selector.types import CollectedTest, Expectation, PlannedTest


def plan(
    collected: Sequence[CollectedTest],
    manifests: ManifestSet,
    device: str,
    tier: str = "",
    *,
    profile: Profile = Profile.COMPAT,
    platform: str = "",
) -> tuple[PlannedTest, ...]:
    """One planned test for each collected one, in the same order; `Mode.SKIP` means filtered.

    `collected` has to hold all variants of a base test; the arguments are those of `resolve`. A module-level function,
    which the framework would run unasked, is judged strictly whatever the profile: a run has an expectation of every
    test, and a manifest that skips a function is obeyed.
    """
    table = resolve(manifests, collected, profile=profile, device=device, test_type=tier, platform=platform)
    functions = [test for test in collected if not test.cls]
    strict = resolve(
        manifests, functions, profile=Profile.STRICT, device=device, test_type=tier, platform=platform
    ).by_id
    return tuple(
        PlannedTest(test, _expectation(strict.get(test.id, row)))
        for test, row in zip(collected, table.rows, strict=True)
    )


def _expectation(row: Resolution) -> Expectation:
    return Expectation(row.mode, row.rule, row.provenance, row.tags, row.isolate, row.timeout_s)
