"""What the stages heard from what is known: questions passed on, and a digest of the answers.

A plan rests on the answers it got, whichever store, file or service gave them. So the answers are what its key names,
and not the stores, which have no identity that two machines could agree on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from selector.known import Durations, ExecutedFunctions, FunctionId, History, Known, ObservedTests, Outcomes


class Heard:
    """`known` answers as `inner` does, and `digest` covers every question and answer so far."""

    def __init__(self, inner: Known) -> None:
        self._digest = hashlib.sha256()
        self.known = Known(
            history=_History(inner.history, self) if inner.history is not None else None,
            observed=_Observed(inner.observed, self) if inner.observed is not None else None,
            outcomes=_Outcomes(inner.outcomes, self) if inner.outcomes is not None else None,
            durations=_Durations(inner.durations, self) if inner.durations is not None else None,
            executed=_Executed(inner.executed, self) if inner.executed is not None else None,
        )

    def note(self, question: str, asked: Collection[str], answer: object) -> None:
        """One question and its answer, whatever the order of sets and mappings in them."""
        said = json.dumps([question, sorted(asked), answer], sort_keys=True, default=_plain)
        self._digest.update(f"{len(said)}\0{said}".encode("ascii"))

    @property
    def digest(self) -> str:
        """SHA-256, in hexadecimal digits."""
        return self._digest.hexdigest()


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Collection):
        return sorted(value)
    raise TypeError(f"no answer of a protocol holds a {type(value).__name__}")


@dataclass(frozen=True, slots=True)
class _History:
    inner: History
    heard: Heard

    def changed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        answer = self.inner.changed_with(paths)
        self.heard.note("changed with", paths, answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Observed:
    inner: ObservedTests
    heard: Heard

    def tests_using(self, operators: Collection[str]) -> Mapping[str, Collection[str]]:
        answer = self.inner.tests_using(operators)
        self.heard.note("tests using", operators, answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Outcomes:
    inner: Outcomes
    heard: Heard

    def failed_last(self) -> Mapping[str, str]:
        answer = self.inner.failed_last()
        self.heard.note("failed last", (), answer)
        return answer

    def failed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        answer = self.inner.failed_with(paths)
        self.heard.note("failed with", paths, answer)
        return answer

    def missed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        answer = self.inner.missed_with(paths)
        self.heard.note("missed with", paths, answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Durations:
    inner: Durations
    heard: Heard

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        answer = self.inner.seconds(files)
        self.heard.note("seconds", files, answer)
        return answer


@dataclass(frozen=True, slots=True)
class _Executed:
    inner: ExecutedFunctions
    heard: Heard

    def executing(self, functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
        answer = self.inner.executing(functions)
        told = {_named(function): sorted(tests) for function, tests in answer.items()}
        self.heard.note("executing", [_named(function) for function in functions], told)
        return answer

    def recorded_files(self) -> Collection[str]:
        answer = self.inner.recorded_files()
        self.heard.note("recorded files", (), sorted(answer))
        return answer


def _named(function: FunctionId) -> str:
    return f"{function.path}:{function.name}"
