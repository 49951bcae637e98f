"""What the strict profile refuses although the framework loads it: keys, files, names and arguments that do nothing.

Everything here is without effect there, so a manifest that the strict profile takes means the same in both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pydantic import BaseModel

from selector.manifests.check import UNKNOWN_KEY
from selector.manifests.document import Path, Placed
from selector.manifests.findings import Finding, Severity, shown
from selector.manifests.inputs import Argument
from selector.manifests.oddities import FILES
from selector.manifests.schema import Manifest, class_part, is_pattern

#: Warnings of a load that the strict profile makes errors. The first four are all about keys that no code reads.
REFUSED = frozenset({
    UNKNOWN_KEY, "unknown-section", "misplaced-kwargs", "inert-key", "no-files", "padded-name", "unknown-token",
})  # fmt: skip  # a list of rules, the keys in one line


def strictly(placed: Placed, manifest: Manifest | None, findings: Sequence[Finding]) -> list[Finding]:
    """The findings of one manifest as the strict profile sees them."""
    seen = [replace(one, severity=Severity.ERROR) if one.rule in REFUSED else one for one in findings]
    return seen if manifest is None else [*seen, *_bad_classes(placed, manifest), *_two_kinds(placed, manifest)]


def _bad_classes(placed: Placed, manifest: Manifest) -> Iterator[Finding]:
    """Class parts that are compared here and are no pattern; the framework never looks at them."""
    for index, block in enumerate(manifest.test_suite_config.files):
        for number, entry in enumerate(block.tests):
            for position, name in enumerate(entry.names):
                if problem := _class_problem(class_part(name)):
                    place = placed.place((*FILES, index, "tests", number, "names", position))
                    message = f"{shown(name)}: {problem}"
                    yield placed.finding(place, message, rule="schema")


def _class_problem(cls: str) -> str:
    if cls != cls.strip():
        return "a class with a blank at its start or end matches none"
    if not is_pattern(cls):
        return ""
    try:
        re.compile(cls)
    except (re.error, RecursionError, OverflowError, FutureWarning) as error:
        return f"the class is not a valid pattern ({error})"
    return ""


def _two_kinds(placed: Placed, manifest: Manifest) -> Iterator[Finding]:
    for path, argument in _arguments(manifest, ()):
        if len(kinds := argument.kinds) > 1:
            message = f"an argument is of one kind, not of {' and '.join(f'`{kind}`' for kind in kinds)}"
            yield placed.finding(placed.place(path), message, rule="two-kinds")


def _arguments(value: object, path: Path) -> Iterator[tuple[Path, Argument]]:
    if isinstance(value, Argument):
        yield path, value
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name in value.model_fields_set:
                yield from _arguments(getattr(value, name), (*path, field.alias or name))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _arguments(item, (*path, index))
