"""Turning kept base tests into collected tests: what the framework really generates for the device, file by file.

Owns the rule for files that cannot be collected: broken on head and whole on base is a break by the change, and the
tests that base has are planned all the same, to be seen missing. Never silently nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from relay.contract import Tree, can_be_recorded
from selector.manifests.model_rules import ModelRules
from selector.manifests.models import is_model_file
from selector.types import BaseTest, Candidate, CollectedTest
from workers.device_runner import DeviceRunner
from workers.runner.types import RunnerTree
from workers.shards.report import capped
from workers.shards.shard_log import NoLog, OutcomeLog
from workers.upstream.overlay import PACKAGES

_ERROR_CAP = 600
_NAME_CAP = 200

# How Python says that a name of the packages a wheel ships is not there.
_SHIPPED = rf"(?:{'|'.join(PACKAGES)})\b[\w.]*"
_LACKING = re.compile(
    rf"cannot import name '(\w+)' from '{_SHIPPED}'|No module named '({_SHIPPED})'"
    rf"|module '{_SHIPPED}' has no attribute '(\w+)'"
)
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Collected:
    """The collected tests of the kept base tests, in the order of the candidates' files, and notes for the report."""

    tests: tuple[CollectedTest, ...]
    notes: tuple[str, ...]
    stopped: bool = False


@dataclass(slots=True)
class Collector:
    """Collects on head, and on base where head cannot be collected. `base` is called only then. `models` are those of
    the manifests, by what stands for a file in the ids of their tests: nothing has to run to know these."""

    runner: DeviceRunner
    head: RunnerTree
    base: Callable[[], RunnerTree]
    should_stop: Callable[[], bool]
    say: Callable[[str], None]
    log: OutcomeLog = field(default_factory=NoLog)
    models: Mapping[str, ModelRules] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def kept(self, candidates: Iterable[Candidate], described: Collection[BaseTest]) -> Collected:
        """What is generated from the kept base tests. `described` are all base tests that upstream's text shows: where
        the rest of a file is kept, what is collected there and not described belongs to it. Base tests that yield
        nothing here are named in a note, but for a rest: that there may be one was only a guess.
        """
        wanted = {candidate.test: None for candidate in candidates}
        rests = {test.file for test in wanted if test.is_rest_of_file}
        tests = self._files(dict.fromkeys(test.file for test in wanted))
        if tests is None:
            return Collected((), (), stopped=True)
        found = tuple(
            test
            for test in tests
            if test.base_test in wanted or (test.file in rests and test.base_test not in described)
        )
        named = {test for test in wanted if not test.is_rest_of_file}
        self._note_without_tests(named - {test.base_test for test in found})
        return Collected(found, tuple(self._notes))

    def only(self, ids: Iterable[str]) -> Collected:
        """All variants of the base tests of these ids, which may be base tests themselves. What does not exist (any
        more) is named in a note."""
        wanted = dict.fromkeys(ids)
        tests = self._files(dict.fromkeys(test_id.split("::")[0] for test_id in wanted))
        if tests is None:
            return Collected((), (), stopped=True)
        bases = {test.base_test for test in tests if test.id in wanted or str(test.base_test) in wanted}
        gone = sorted(wanted.keys() - {test.id for test in tests} - set(map(str, bases)))
        if gone:
            self._notes.append(f"{len(gone)} of the tests asked for are not generated here: {_named(gone)}.")
        return Collected(tuple(test for test in tests if test.base_test in bases), tuple(self._notes))

    def _files(self, files: Iterable[str]) -> list[CollectedTest] | None:
        """All tests of the files; None once a stop is asked for."""
        tests: list[CollectedTest] = []
        files = list(files)
        for number, file in enumerate(files, start=1):
            if self.should_stop():
                return None
            self.say(f"collecting {file} ({number} of {len(files)})")
            tests.extend(self._recordable(file, self._file(file)))
        return None if self.should_stop() else tests

    def _recordable(self, file: str, tests: tuple[CollectedTest, ...]) -> list[CollectedTest]:
        """Without tests whose id the relay would refuse, and the whole plan with it."""
        fit = [test for test in tests if can_be_recorded(test.id)]
        if len(fit) < len(tests):
            count = len(tests) - len(fit)
            self._notes.append(
                f"{count} tests of {file} have an id that cannot be recorded (its length, or its characters)."
            )
        return fit

    def _file(self, file: str) -> tuple[CollectedTest, ...]:
        if is_model_file(file):
            model = self.models.get(file)
            return tuple(model.check.collected()) if model is not None else ()
        on_head = self.runner.collect(self.head, file, self.should_stop)
        self.log.collected(file, on_head, Tree.HEAD)
        if not on_head.error:
            return on_head.tests
        why = capped(" ".join(on_head.error.split()), _ERROR_CAP)
        if on_head.tests:
            self._notes.append(f"{file} is collected only in part: {why}")
            return on_head.tests
        on_base = self.runner.collect(self.base(), file, self.should_stop)
        self.log.collected(file, on_base, Tree.BASE)
        if on_base.tests:
            self._notes.append(
                f"{file} cannot be collected with the change, but can on base: its {len(on_base.tests)} tests there "
                f"are planned and will be missing. {why}"
            )
            return on_base.tests
        self._notes.append(f"{_on_neither_side(file, on_base.error)} {why}")
        return ()

    def _note_without_tests(self, tests: Iterable[BaseTest]) -> None:
        names = sorted(str(test) for test in tests)
        if names:
            self._notes.append(f"{len(names)} kept base tests generate no test on this device: {_named(names)}.")


def _on_neither_side(file: str, error: str) -> str:
    """Why none of a file's tests run, by base's error: what base lacks as well is not the change's doing."""
    lacking = _LACKING.search(error)
    if lacking is None:
        return f"{file} can be collected neither with the change nor on base; none of its tests run."
    name = capped(next(filter(None, lacking.groups())), _NAME_CAP)
    return (
        f"{file} does not fit the installed torch (skew): it asks for {name}, which is not there, with the change and "
        "on base alike; none of its tests run."
    )


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more
