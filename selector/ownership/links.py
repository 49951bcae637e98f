"""What a rule of stage 2 says: this test belongs to this change, because.

Owns the shape of a link and the sentences' limits; the rules stand in the modules beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selector.catalog import Catalog, CatalogTest
from selector.change import FileChange
from selector.types import Reason, Stage

EVIDENCE_CAP = 300
#: A name that more tests mention than this, and than a twentieth of all, is a word of the language of tests.
_COMMON_TESTS = 200
_COMMON_SHARE = 20


@dataclass(frozen=True, slots=True)
class Link:
    """One test, tied to the change by one rule."""

    test: CatalogTest
    reason: Reason
    must_run: bool = False


Rule = Callable[[FileChange, Catalog], Iterator[Link]]


def too_common(tests: int, catalog: Catalog) -> bool:
    """Whether so many tests share something that it says little about any of them."""
    return tests > max(_COMMON_TESTS, catalog.size // _COMMON_SHARE)


def link(test: CatalogTest, rule: str, evidence: str, score: float, *, must_run: bool = False) -> Link:
    """A link of stage 2. `score` is 0 to 1; `evidence` quotes untrusted names and is cut to `EVIDENCE_CAP`."""
    return Link(test, Reason(Stage.OWNERSHIP, rule, evidence[:EVIDENCE_CAP], score), must_run)
