"""Test files that upstream lists together with a changed file: under one label, or in one merge rule.

The lists are those of the catalog's tree. A list that the change itself edits is not believed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from selector.catalog import Catalog, PathGroup
from selector.change import ChangeSet


def listed_together(change: ChangeSet, catalog: Catalog) -> Mapping[str, tuple[float, str]]:
    """Strength and evidence by test file: 1 for the only test file of a list, 0 for one of all files."""
    changed = [path for file in change.files for path in file.paths]
    found: dict[str, tuple[float, str]] = {}
    for group in catalog.groups:
        cause = next((path for path in changed if group.has(path)), None) if group.listed_in not in changed else None
        if cause is None:
            continue
        tests = _tests_of(group, catalog)
        strength = _rarity(len(tests), len(catalog.files))
        for path in tests:
            if strength > found.get(path, (0.0, ""))[0]:
                found[path] = (strength, f"{group.listed_in} lists it with {cause} as {group.name}")
    return found


def _tests_of(group: PathGroup, catalog: Catalog) -> list[str]:
    """The test files that a group lists, or whose owner label it is."""
    return [path for path, file in catalog.files.items() if group.name in file.owners or group.has(path)]


def _rarity(tests: int, files: int) -> float:
    return round(1 - math.log(tests) / math.log(files), 6) if 0 < tests < files else 0.0
