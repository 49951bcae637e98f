"""The rule for what the author says: tests that the title or the description of a change names.

The text is untrusted and can only propose tests that exist.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from selector.catalog import Catalog
from selector.ownership.links import Link, link

_TEST_WORD = re.compile(r"\b(?:[Tt]est\w+)\b")
_READ_CAP = 100_000


def named_in_description(description: str, catalog: Catalog) -> Iterator[Link]:
    """Tests whose file, class or method stands in the text by its full name."""
    named = frozenset(_TEST_WORD.findall(description[:_READ_CAP]))
    if not named:
        return
    for test in catalog:
        stem = PurePosixPath(test.test.file).stem
        said = next((name for name in (test.test.name, test.test.cls, stem) if name in named), None)
        if said is not None:
            yield link(test, "named in the description", said, 0.7 if said == test.test.name else 0.45)
