"""Who ran, who is running, who is still to run: the account of one call of `Runner.run` over all its children.

Holds the promise of exactly one outcome per id, whatever children claim.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable

from relay.contract import Observation
from workers.runner.child.events import Began, Ended, Event, Refused
from workers.runner.details import capped
from workers.runner.types import TestOutcome

#: What a child may observe; the other observations are seen from outside.
_CLAIMS = {word.value: word for word in (Observation.PASSED, Observation.FAILED, Observation.SKIPPED)}


class Ledger:
    """Events of the running child go into `receive`; outcomes go out to `on_outcome` the moment they are known."""

    def __init__(self, ids: Iterable[str], on_outcome: Callable[[TestOutcome], None]) -> None:
        self._pending = dict.fromkeys(ids)
        self._on_outcome = on_outcome
        self._began_at = 0.0
        self.running: str | None = None
        self.progressed = False
        self.refusal = ""

    @property
    def pending(self) -> list[str]:
        """The ids without an outcome, in their order."""
        return list(self._pending)

    def new_child(self) -> None:
        """Forget what only the last child was about."""
        self.running, self.progressed, self.refusal = None, False, ""

    def receive(self, event: Event) -> None:
        """Take a child's word where it makes sense. An end without its beginning, or of a test that is not ordered,
        is dropped."""
        match event:
            case Began(id=test) if test in self._pending and self.running is None:
                self.running, self._began_at = test, time.monotonic()
            case Ended(id=test) if test == self.running and event.observation in _CLAIMS:
                self.settle(test, _CLAIMS[event.observation], event.detail, event.duration_s)
            case Refused(reason=reason):
                self.refusal = reason
            case _:
                pass

    def settle(self, test: str, observation: Observation, detail: str, duration_s: float = 0.0) -> None:
        """The outcome of one pending test."""
        del self._pending[test]
        self.running, self.progressed = None, True
        seconds = max(duration_s, 0.0) if math.isfinite(duration_s) else 0.0
        self._on_outcome(TestOutcome(test, observation, seconds, capped(detail)))

    def settle_running(self, observation: Observation, detail: str) -> None:
        """The outcome of the test that never came to its end, with the time since it began."""
        if self.running is not None:
            self.settle(self.running, observation, detail, time.monotonic() - self._began_at)

    def settle_all(self, observation: Observation, detail: str) -> None:
        """The same outcome for everything that is left."""
        for test in self.pending:
            self.settle(test, observation, detail)
