"""Who ran, who is running, who is still to run: the account of one call of `Runner.run` over all its children.

Holds the promise of exactly one outcome per id, whatever children claim.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from relay.contract import OPERATORS_CAP, Observation
from workers.runner.child.events import Began, Ended, Event, Executed, Refused
from workers.runner.details import capped
from workers.runner.executed_names import ExecutedNames, OnExecuted
from workers.runner.types import TestOutcome
from workers.untrusted import storable

OPERATOR_CHARS = 200
#: Of what a failed test printed.
OUTPUT_CHARS = 16_000
#: What a child may observe; the other observations are seen from outside.
_CLAIMS = {word.value: word for word in (Observation.PASSED, Observation.FAILED, Observation.SKIPPED)}
_NO_END = "the test's process went on to the next test without a word of how this one ended"


class Ledger:
    """Events of the running child go into `receive`; outcomes go out to `on_outcome` the moment they are known."""

    def __init__(
        self, ids: Iterable[str], on_outcome: Callable[[TestOutcome], None], on_executed: OnExecuted | None = None
    ) -> None:
        self._pending = dict.fromkeys(ids)
        self._ordered = dict(self._pending)
        self._on_outcome = on_outcome
        self._executed = ExecutedNames(on_executed) if on_executed is not None else None
        self._began_at = 0.0
        self._child_at = time.monotonic()
        #: What a test of the running child printed, by its id.
        self.printed: Callable[[str], str] = _nothing
        self.running: str | None = None
        self.progressed = False
        self.refusal = ""

    def pending_of(self, ids: Iterable[str]) -> list[str]:
        """Those of `ids` without an outcome, in their order."""
        return list(dict.fromkeys(test for test in ids if test in self._pending))

    def new_child(self, ids: Iterable[str]) -> None:
        """A child gets the order to run `ids`. Forget what only the last child was about."""
        self._ordered = dict.fromkeys(self.pending_of(ids))
        self.running, self.progressed, self.refusal = None, False, ""
        self.printed = _nothing
        self._child_at = time.monotonic()
        if self._executed is not None:
            self._executed.forget()

    def receive(self, event: Event) -> None:
        """Take a child's word where it makes sense. An end without its beginning, or of a test that is not ordered,
        is dropped."""
        match event:
            case Began(id=test) if test in self._ordered and test != self.running:
                self.settle_running(Observation.CRASHED, _NO_END)
                self.running, self._began_at = test, time.monotonic()
            case Ended(id=test) if test == self.running and event.observation in _CLAIMS:
                operators = tuple(storable(name)[:OPERATOR_CHARS] for name in event.operators[:OPERATORS_CAP] if name)
                observation = _CLAIMS[event.observation]
                output = self.printed(test) if observation is Observation.FAILED else ""
                # Times plan later shards, so no test can say that it took longer than its process has lived.
                seconds = min(event.duration_s, time.monotonic() - self._child_at)
                self._settle(test, observation, event.detail, seconds, operators, output=output)
            case Executed(id=test) if self._executed is not None and test in {"", self.running}:
                self._executed.receive(event)
            case Refused(reason=reason):
                self.refusal = reason
            case _:
                pass

    def settle_running(self, observation: Observation, detail: str) -> None:
        """The outcome of the test that never came to its end, with the time since it began."""
        if self.running is not None:
            self._settle(self.running, observation, detail, time.monotonic() - self._began_at)

    def settle_rest(self, observation: Observation, detail: str) -> None:
        """The same outcome for all that is left of what was ordered."""
        for test in list(self._ordered):
            self._settle(test, observation, detail)

    def _settle(
        self,
        test: str,
        observation: Observation,
        detail: str,
        duration_s: float = 0.0,
        operators: tuple[str, ...] = (),
        *,
        output: str = "",
    ) -> None:
        del self._pending[test], self._ordered[test]
        self.running, self.progressed = None, True
        seconds = max(duration_s, 0.0) if math.isfinite(duration_s) else 0.0
        printed = capped(output, OUTPUT_CHARS)
        self._on_outcome(TestOutcome(test, observation, seconds, capped(detail), operators, printed))


def _nothing(test: str) -> str:
    del test
    return ""
