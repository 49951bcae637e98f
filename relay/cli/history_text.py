"""The sentences of `relay why --history`. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.views import TestHistory


def sentences(history: TestHistory) -> Iterator[str]:
    """How a test does on the branch, and how often it disagreed with itself, with counts."""
    failing, flakes = history.failing, history.flakes
    telling = [it.on_branch for it in history.outcomes if it.on_branch is not None]
    if failing is not None:
        told = f"{failing.outcomes} {'run tells' if failing.outcomes == 1 else 'runs tell'} so"
        before = f"run {failing.last_good.run_id} saw it fine" if failing.last_good else "none saw it fine before"
        yield f"fails on the branch since run {failing.first_bad.run_id}: {told}, {before}"
    elif telling:
        yield f"fine on the branch, in {sum(telling)} of the {len(telling)} runs here that tell"
    else:
        yield "no run here tells how it does on the branch"
    if flakes.commits:
        seen = f"{flakes.attempts} attempts in {flakes.runs} runs"
        yield f"both fine and failing on {flakes.disagreements} of {flakes.commits} commits ({seen})"


def none_ran(name: str) -> str:
    return f"no run that was looked at planned a test that is called '{name}'"


def none_ran_hint() -> str:
    return "write a part of the name of a test that a run planned; `relay run list` shows the runs"


def more_variants(shown: int, total: int, *, whole: bool) -> str:
    many = str(total) if whole else f"{total} or more"
    return f"{shown} of {many} tests of that name, those with trouble first; name one alone for its own"


def older() -> str:
    return "there are older runs; a larger --history shows them"


def unreported() -> str:
    return "not reported"


def several_tests(count: int) -> str:
    return f"no history: the name means {count} tests; name one alone"
