"""One call of `Runner.run`: which children a file's tests need, and what the end of each says about them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from relay.contract import Observation
from workers.runner.child.events import mark, mark_of_file
from workers.runner.child.order import Order
from workers.runner.child_process import Child, start_child
from workers.runner.details import how_it_ended, not_collected, with_output
from workers.runner.ledger import Ledger
from workers.runner.parents import TorchUnavailableError, WarmParents
from workers.runner.types import RunnerLimits, RunnerTree, WantedTest
from workers.runner.watch import Clock, End, Ending, follow


@dataclass(slots=True)
class FileRun:
    """`order` is what every child gets, with its own ids and key; `wanted` are the tests by id."""

    parents: WarmParents
    limits: RunnerLimits
    tree: RunnerTree
    order: Order
    wanted: Mapping[str, WantedTest]
    ledger: Ledger
    should_stop: Callable[[], bool]
    _suspects: set[str] = field(default_factory=set)

    def run(self) -> None:
        """Everything, or what there is time for before a stop."""
        self._together([test for test, wanted in self.wanted.items() if not wanted.isolate])
        for test, wanted in self.wanted.items():
            if wanted.isolate:
                self._together([test])

    def _together(self, tests: list[str]) -> None:
        """Run tests in one child, and what it leaves in the next."""
        for _ in range(self.limits.children):
            pending = self.ledger.pending_of(tests)
            if not pending or self.should_stop():
                return
            self._child(pending)
        if not self.should_stop():
            self.ledger.new_child(tests)
            self.ledger.settle_rest(Observation.CRASHED, f"not run: the file used up {self.limits.children} processes")

    def _child(self, tests: list[str]) -> None:
        self.ledger.new_child(tests)
        try:
            parent = self.parents.ready(self.tree, self.should_stop)
        except TorchUnavailableError as error:
            self.ledger.settle_rest(error.observation, str(error))
            return
        if parent is None:
            return
        order = replace(self.order, ids=tests, key=secrets.token_hex(len(self.order.key) // 2))
        own = {test: limit for test in tests if (limit := self.wanted[test].timeout_s) is not None}
        with start_child(parent, order, self.limits.output_bytes) as child:
            self.ledger.printed = partial(self._printed, child)
            ending = follow(child, Clock(self.limits, own), self.ledger.receive, self.should_stop)
            output = child.output_after(mark(self.ledger.running or self.order.file))
        output = self.parents.without_paths(self.tree, output or parent.last_words())
        self._conclude(ending, output)

    def _printed(self, child: Child, test: str) -> str:
        """What a test printed that has just ended; the next one may have begun."""
        output = child.printed_between(mark(test), mark_of_file(f"{self.order.file}::"))
        return self.parents.without_paths(self.tree, output)

    def _conclude(self, ending: Ending, output: str) -> None:
        ledger = self.ledger
        match ending.end:
            case End.FINISHED:
                ledger.settle_rest(Observation.MISSING, ledger.refusal or f"{self.order.file} holds no such test")
            case End.EXITED:
                self._blame(Observation.CRASHED, with_output(how_it_ended(ending.status), output))
            case End.VANISHED:
                self._vanish(with_output(how_it_ended(None), output))
            case End.TEST_TIMEOUT:
                sentence = f"ended after {self._limit(ledger.running):g} s, the limit of a test"
                self._blame(Observation.TIMED_OUT, with_output(sentence, output))
            case End.COLLECT_TIMEOUT if not ledger.progressed:
                sentence = not_collected(self.limits.collect_timeout_s)
                ledger.settle_rest(Observation.TIMED_OUT, with_output(sentence, output))
            case End.FILE_TIMEOUT if not ledger.progressed:
                sentence = f"no test ended within {self.limits.file_timeout_s:g} s, the limit of a file"
                ledger.settle_rest(Observation.TIMED_OUT, with_output(sentence, output))
            case _:
                pass  # stopped, or out of time with something to show for it: the next child takes the rest

    def _vanish(self, detail: str) -> None:
        """The running test need not be the one that ended the warm parent, whose children outlive it for a moment. It
        gets another try, and is blamed when it is the running one again."""
        suspect = self.ledger.running or ""
        if suspect in self._suspects:
            self._blame(Observation.CRASHED, detail)
        self._suspects.add(suspect)

    def _blame(self, observation: Observation, detail: str) -> None:
        """Blame the running test. Between tests nobody is to blame, unless there is no progress to be had."""
        if self.ledger.running is not None:
            self.ledger.settle_running(observation, detail)
        elif not self.ledger.progressed:
            self.ledger.settle_rest(observation, f"before any test ran: {detail}")

    def _limit(self, test: str | None) -> float:
        own = self.wanted[test].timeout_s if test is not None else None
        return self.limits.test_timeout_s if own is None else own
