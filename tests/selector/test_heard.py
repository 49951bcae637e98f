"""What was heard is passed on unchanged, and digested."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from selector.heard import Heard
from selector.known import FunctionId, Known

F = FunctionId("torch/a.py", "f")


class Everything:
    """Answers every protocol, with containers in an order of its own."""

    def __init__(self, *, weight: float = 0.5, swap: bool = False) -> None:
        self._weight = weight
        self._swap = swap

    def _ordered(self, tests: Mapping[str, float]) -> Mapping[str, float]:
        return dict(reversed(list(tests.items()))) if self._swap else tests

    def changed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return {path: self._ordered({"test/a.py": self._weight, "test/b.py": 0.1}) for path in paths}

    def tests_using(self, operators: Collection[str]) -> Mapping[str, Collection[str]]:
        return {operator: {"t::b", "t::a"} for operator in operators}

    def failed_last(self) -> Mapping[str, str]:
        return {"t::a": "yesterday"}

    def failed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return self.changed_with(paths)

    def missed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        return {path: {"t::a": "in May"} for path in paths}

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        return {file: {f"{file}::T::t": self._weight} for file in files}

    def executing(self, functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
        return {function: frozenset({"t::a", "t::b"}) for function in functions}

    def recorded_files(self) -> Collection[str]:
        return {"test/a.py", "test/b.py"}


def hear(inner: Everything) -> str:
    """Ask everything once, and compare with what `inner` says itself."""
    heard = Heard(Known(inner, inner, inner, inner, inner))
    known, paths = heard.known, {"torch/a.py", "torch/b.py"}
    assert known.history is not None
    assert known.observed is not None
    assert known.outcomes is not None
    assert known.durations is not None
    assert known.executed is not None
    assert known.history.changed_with(paths) == inner.changed_with(paths)
    assert known.observed.tests_using(["aten::add"]) == inner.tests_using(["aten::add"])
    assert known.outcomes.failed_last() == inner.failed_last()
    assert known.outcomes.failed_with(paths) == inner.failed_with(paths)
    assert known.outcomes.missed_with(paths) == inner.missed_with(paths)
    assert known.durations.seconds(["test/a.py"]) == inner.seconds(["test/a.py"])
    assert known.executed.executing([F]) == inner.executing([F])
    assert known.executed.recorded_files() == inner.recorded_files()
    return heard.digest


def test_the_digest_is_of_what_was_said_and_not_of_its_order() -> None:
    assert hear(Everything()) == hear(Everything(swap=True)) != hear(Everything(weight=0.4))


def test_what_was_never_asked_does_not_count() -> None:
    assert Heard(Known(history=Everything())).digest == Heard(Known()).digest


def test_nothing_known_stays_nothing() -> None:
    assert Heard(Known()).known == Known()
