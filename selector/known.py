"""What is known beside a change and its trees: the past, and what tests did when they ran. Handed in, never fetched.

Every part can be missing, and every part only adds: without it the stages know less and say so. What comes from here
was told by earlier runs of untrusted code, so it names tests and gives numbers, and never decides alone to leave a test
out. No method of these protocols raises; what cannot be answered is left out of the answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol


class History(Protocol):
    """Which files changed together before the change."""

    def changed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        """For each path the files that changed with it and how strongly. It never looks past the base commit."""
        ...


class ObservedTests(Protocol):
    """Which operators tests used on the device."""

    def tests_using(self, operators: Collection[str]) -> Mapping[str, Collection[str]]:
        """The base tests (`file::Class::method`) that used an operator (`aten::gelu`), by operator."""
        ...


class Outcomes(Protocol):
    """How tests ended before. Tests are named as base tests (`file::Class::method`)."""

    def failed_last(self) -> Mapping[str, str]:
        """Tests that newly failed when an earlier version of this change (the same pull request) was last tested, each
        with a sentence that says when."""
        ...

    def failed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        """For each changed path the tests that changes of it broke before: the sum over those changes of 1/(files
        changed). Flaky failures do not count."""
        ...

    def missed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        """For each changed path the tests that a selection for a change of it once left out although the change broke
        them, each with a sentence that says when. These are kept for good."""
        ...


class Durations(Protocol):
    """How long tests took."""

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        """For each test file the seconds of its base tests, summed over their generated variants."""
        ...


@dataclass(frozen=True, slots=True, order=True)
class FunctionId:
    """A Python function of the tree: the file's path in the tree and `Class.method` or `function` in it."""

    path: str
    name: str


class ExecutedFunctions(Protocol):
    """Which functions tests executed when they were last recorded."""

    def executing(self, functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
        """The base tests (`file::Class::method`) that executed a function, by function; a whole file (`file`) where it
        was executed while the file was collected. A function that was never seen to run has an empty collection; one
        that did not exist in the recorded tree, or of a file outside what is recorded, is left out."""
        ...

    def recorded_files(self) -> Collection[str]:
        """The test files that were recorded whole; nothing is said about others."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known; nothing by default."""

    history: History | None = None
    observed: ObservedTests | None = None
    outcomes: Outcomes | None = None
    durations: Durations | None = None
    executed: ExecutedFunctions | None = None


NOTHING = Known()
