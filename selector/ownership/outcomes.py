"""The rules for what broke: tests that the last version of the change broke, that a selection once missed when one of
its files changed, or that changes of its files broke lately.

The past only adds tests that exist, and a file that nothing else ties to a test stays untied. Its names come from
earlier runs of untrusted code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from selector.catalog import Catalog, CatalogTest
from selector.change import ChangeSet
from selector.known import Outcomes
from selector.ownership.links import Link, link

FAILED_LAST, MISSED_BEFORE, BROKE_BEFORE = "failed last", "missed before", "broke before"
RULES = frozenset({FAILED_LAST, MISSED_BEFORE, BROKE_BEFORE})
#: Tests that one rule adds at most.
MOST_ADDED = 2_000
#: The score of a test that changes of one file broke: full for one change of that file alone, less for its share.
_BROKE = 0.6
#: Of a change of more than twenty files it is hardly any single one that broke a test.
_WEAKEST = 0.05

_ByName = Mapping[str, CatalogTest]


def outcome_links(change: ChangeSet, catalog: Catalog, outcomes: Outcomes) -> Iterator[Link]:
    """Tests with a past. A change that cannot matter has none, whatever its last version broke."""
    files = [file for file in change.relevant if not file.only_documents]
    if not files:
        return
    paths = sorted({path for file in files for path in file.paths})
    by_name = {str(test.test): test for test in catalog}
    yield from _broke_before(paths, outcomes, by_name)
    yield from _missed_before(paths, outcomes, by_name)
    failed = outcomes.failed_last()
    for name in sorted(failed.keys() & by_name.keys())[:MOST_ADDED]:
        yield link(by_name[name], FAILED_LAST, failed[name], 1.0, must_run=True)


def _broke_before(paths: list[str], outcomes: Outcomes, by_name: _ByName) -> Iterator[Link]:
    answer = outcomes.failed_with(paths)
    told = [
        (strength, name, path)
        for path in paths
        for name, strength in answer.get(path, {}).items()
        if name in by_name and strength >= _WEAKEST
    ]
    for strength, name, path in sorted(told, key=lambda it: (-it[0], it[1], it[2]))[:MOST_ADDED]:
        evidence = f"changes of {path} broke it before (strength {strength:.2f})"
        yield link(by_name[name], BROKE_BEFORE, evidence, round(_BROKE * min(strength, 1.0), 4))


def _missed_before(paths: list[str], outcomes: Outcomes, by_name: _ByName) -> Iterator[Link]:
    answer = outcomes.missed_with(paths)
    told = [(name, path) for path in paths for name in answer.get(path, {}) if name in by_name]
    for name, path in sorted(told)[:MOST_ADDED]:
        evidence = f"with a change of {path}: {answer[path][name]}"
        yield link(by_name[name], MISSED_BEFORE, evidence, 1.0, must_run=True)
