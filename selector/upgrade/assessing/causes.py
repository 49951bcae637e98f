"""Groups what there is to assess by cause: what one look settles together.

A cause is as precise as it can be while several tests share it: a helper, an operator, a class that moved, the same
edit in many tests. What shares nothing with others is looked at file by file. What explains most is taken first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from selector.types import BaseTest
from selector.upgrade.assessing.duties import Verdict
from selector.upgrade.assessing.edits import Edits
from selector.upgrade.assessing.marking import compare_marks
from selector.upgrade.assessing.side import Side
from selector.upgrade.types import ChangedTest, Evidence, TestChange

#: Tests that have to share a precise cause for it to be one.
_SHARED_BY = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """A test with what is to be done about it."""

    changed: ChangedTest
    verdict: Verdict


class Causes:
    """Names causes by what both trees say."""

    def __init__(self, base: Side, head: Side) -> None:
        self._base, self._head = base, head
        self._edits = Edits(base.tree, head.tree)

    def name(self, judged: Sequence[Judged]) -> tuple[str, ...]:
        """The cause of each, in their order."""
        candidates = [dict.fromkeys(self._precise(one)) for one in judged]
        chosen = _cover(candidates)
        return tuple(chosen.get(number) or _of_place(one) for number, one in enumerate(judged))

    def _precise(self, one: Judged) -> Iterator[str]:
        changed, change = one.changed, one.verdict.change
        if one.verdict.operators:
            yield "entries of upstream's operators changed"
        elif change is TestChange.MOVED and changed.former is not None:
            yield f"{_class_of(changed.former)} is {_class_of(changed.test)} now"
        elif change is TestChange.DECORATORS:
            yield from self._decorators(changed)
        elif change in (TestChange.HELPER, TestChange.CODE):
            evidence = (found for found in changed.evidence if found.kind is change)
            yield from (f"{_where(found)}: {found.symbol}" for found in evidence)
        elif change is TestChange.BODY:
            found = next((found for found in changed.evidence if found.kind is change), None)
            if found is not None and (edits := self._edits.told(found)):
                yield f"edited {edits}"

    def _decorators(self, changed: ChangedTest) -> Iterator[str]:
        before = self._base.tests.get(changed.former or changed.test)
        after = self._head.tests.get(changed.test)
        if before is not None and after is not None and (seen := compare_marks(before, after).seen):
            yield f"decorators {' '.join(seen)}"


def _cover(candidates: Sequence[Mapping[str, None]]) -> dict[int, str]:
    """By number, the cause that explains most of those that no cause before it explains."""
    having: dict[str, set[int]] = {}
    for number, causes in enumerate(candidates):
        for cause in causes:
            having.setdefault(cause, set()).add(number)
    chosen: dict[int, str] = {}
    while having:
        cause = min(having, key=lambda name: (-len(having[name]), name))
        settled = having.pop(cause)
        if len(settled) < _SHARED_BY:
            break
        chosen.update(dict.fromkeys(settled, cause))
        having = {name: left for name, numbers in having.items() if (left := numbers - settled)}
    return chosen


def _of_place(one: Judged) -> str:
    """The cause of what shares no other: where it is to be looked at."""
    changed, change = one.changed, one.verdict.change
    if change is TestChange.ADDED:
        return f"new in {changed.test.file}"
    if change is TestChange.CODE:
        found = next((found for found in changed.evidence if found.kind is change), None)
        return f"{_where(found)} changed" if found is not None else f"what {changed.test.file} is about changed"
    return f"changes of {(changed.former or changed.test).file}"


def _where(evidence: Evidence) -> str:
    place = evidence.head or evidence.base
    return place.path if place is not None else "somewhere"


def _class_of(test: BaseTest) -> str:
    return "::".join(filter(None, (test.file, test.cls)))
