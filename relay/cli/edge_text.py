"""The words of `relay edge`."""

from __future__ import annotations

from collections.abc import Sequence


def counted(shown: int, total: int) -> str:
    if not total:
        return "no selection missed such a test, as far as is known"
    tied = "1 test runs with a changed file" if total == 1 else f"{total} times a test runs with a changed file"
    return f"{tied} since a selection missed it" + (f"; {shown} shown" if shown < total else "")


def ids_or_run() -> str:
    return "name edges by number, or all of a run by --run; not both"


def question(count: int) -> str:
    return f"forget {'1 edge' if count == 1 else f'{count} edges'}, so that selections may miss these tests again?"


def removed(count: int) -> str:
    if not count:
        return "there was nothing to forget"
    return "1 edge is forgotten" if count == 1 else f"{count} edges are forgotten"


def again() -> str:
    return "what an audit or the lot finds missed again is remembered again"


def none_of_these(ids: Sequence[int]) -> str:
    return f"no edge has the number {', '.join(map(str, ids))}"


def none_of_these_hint() -> str:
    return "`relay edge list` shows those there are"
