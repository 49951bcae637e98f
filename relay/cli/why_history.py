"""How tests did before, for `relay why --history`: what the newest runs of a service found out about them.

A base test stands for all that is generated from it; of many variants those that had trouble are shown first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from relay.cli import history_text
from relay.cli.output import Output, one_line
from relay.client import ApiClient, NotFound
from relay.views import TestHistory, TestOutcome, Verdict
from selector.explanation import find_tests
from selector.types import BaseTest

_VARIANTS = 5
_LOOKED_THROUGH = 500
_FINE = frozenset({Verdict.OK, Verdict.KNOWN_FAILURE, None})


@dataclass(frozen=True, slots=True)
class Before:
    """The histories that are shown, none where none were asked for, and beside them a sentence."""

    shown: tuple[TestHistory, ...]
    note: str = ""
    asked: bool = False

    def as_object(self) -> dict[str, object]:
        """For programs."""
        return {"history": [it.model_dump(mode="json") for it in self.shown]} if self.asked else {}

    def show(self, out: Output) -> None:
        """For people."""
        if out.as_json:
            return
        for history in self.shown:
            _show(out, history)
        if any(history.next_before is not None for history in self.shown):
            out.note(history_text.older())
        if self.note:
            out.note(self.note)


def show_history(out: Output, name: str, count: int, url: str | None) -> None:
    """How a test did, without a change. Raises `NotFound` for one that no run planned."""
    from relay.cli.connect import open_client

    with open_client(url) as client:
        before = read_histories(client, name, count)
    if not before.shown:
        raise NotFound(before.note, history_text.none_ran_hint())
    if out.as_json:
        out.data(before.as_object())
    before.show(out)


def before_of(client: ApiClient, tests: Sequence[str], name: str, count: int | None, device: str = "") -> Before:
    """The histories of the one of `tests` that somebody called `name`: of that variant, where it is one's name."""
    if count is None:
        return Before(())
    if len(tests) > 1:
        return Before((), history_text.several_tests(len(tests)), asked=True)
    if "::" in name and name != tests[0]:
        found = read_histories(client, name, count, device)
        if found.shown:
            return found
    return read_histories(client, tests[0], count, device)


def read_histories(client: ApiClient, name: str, count: int, device: str = "") -> Before:
    """The last `count` outcomes of the test of that id, or of the variants of the base test of that name; of those with
    it in theirs, where it is a part of one."""
    if "::" in name:
        try:
            return Before((client.test_history(name, device=device, limit=count),), asked=True)
        except NotFound:
            pass  # not a collected test's id: a base test's, or one that has not run
    method = name.rpartition("::")[2]
    found = client.find_tests(f"::{method}" if "::" in name else name, device=device, limit=_LOOKED_THROUGH).tests
    fitting = [it for it in found if _is_meant(it.id, name)]
    first = sorted(fitting, key=lambda it: (it.verdict in _FINE, it.id))[:_VARIANTS]
    shown = tuple(client.test_history(it.id, device=device, limit=count) for it in first)
    note = "" if shown else history_text.none_ran(one_line(name))
    if len(shown) < len(fitting):
        note = history_text.more_variants(len(shown), len(fitting), whole=len(found) < _LOOKED_THROUGH)
    return Before(shown, note, asked=True)


def _is_meant(variant: str, name: str) -> bool:
    file, _, rest = name.partition("::")
    if not rest:
        return name.lower() in variant.lower()
    cls, _, method = rest.rpartition("::")
    return bool(find_tests(variant, [BaseTest(file, cls, method)]).tests)


def _show(out: Output, history: TestHistory) -> None:
    out.say()
    out.say(one_line(history.test, 1_000))
    for sentence in history_text.sentences(history):
        out.say(f"  {sentence}")
    heads = ("RUN", "VERDICT", "EXPECTED", "CHANGE", "TITLE", "TIME", "WHEN")
    out.table(heads, list(_rows(out, history.outcomes)))


def _rows(out: Output, outcomes: Sequence[TestOutcome]) -> Iterator[tuple[str, ...]]:
    for it in outcomes:
        change = f"#{it.pr_number}" if it.pr_number is not None else it.head_sha[:10]
        time = "" if it.seconds is None else f"{it.seconds:.1f} s"
        verdict = out.status(it.verdict or history_text.unreported())
        yield str(it.run_id), verdict, it.expected, change, one_line(it.title, 60), time, out.when(it.at)
