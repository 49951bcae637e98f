"""What was observed of tests on a device, as the manifest tools use it, and how reported names are taken apart.

Where the observations come from is `result_files.py`'s and `junit.py`'s matter; what follows from them is decided in
`generation.py` and `promotion.py`.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from selector.trees import SourceTree
from selector.types import CollectedTest

DETAIL_CHARACTERS = 500
#: What the framework calls a device class before the backend's own name is known to it.
UNNAMED_DEVICE = "PRIVATEUSE1"

#: Names of the test functions in the source of a file; empty where that is not known.
SourceNames = Callable[[str], frozenset[str]]


class ResultsError(Exception):
    """A results file can not be used; the text names it and says why."""


class Observation(StrEnum):
    """What was seen of one attempt at one test; the same words as in the service's rows."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ObservedTest:
    """One attempt at one collected test. `run`, `machine` and `at` are empty or None where the file does not say.

    `base_known` is False when the name in the source had to be cut out of the generated name, which can not tell an
    operator or a parameter from the base.
    """

    test: CollectedTest
    observation: Observation
    run: str = ""
    at: datetime | None = None
    machine: str = ""
    duration_s: float | None = None
    detail: str = ""
    base_known: bool = True

    @property
    def id(self) -> str:
        return self.test.id

    @property
    def file(self) -> str:
        return self.test.file

    @property
    def cls(self) -> str:
        return self.test.cls

    @property
    def base(self) -> str:
        return self.test.base


@dataclass(frozen=True, slots=True)
class Naming:
    """How generated names are taken apart: the device's word, and the names that stand in the sources."""

    device: str
    source_names: SourceNames

    def identify(self, file: str, classes: Sequence[str], method: str) -> tuple[CollectedTest, bool]:
        """The test behind a reported name, and whether its base is known from the source. A class suffix of the
        device, or of a device that has no name yet, becomes the device's own."""
        reported = classes[-1] if classes else ""
        generic = self._generic(reported)
        shown = reported if generic == reported else generic + self.device.upper()
        base, known = self._base(file, method)
        path = "::".join((file, *classes[:-1], *([shown] if shown else []), method))
        return CollectedTest(path, file, generic, base, method), known

    def _generic(self, cls: str) -> str:
        for suffix in (self.device.upper(), UNNAMED_DEVICE):
            if len(cls) > len(suffix) and cls.endswith(suffix):
                return cls.removesuffix(suffix)
        return cls

    def _base(self, file: str, method: str) -> tuple[str, bool]:
        names = self.source_names(file)
        # pytest's own parameters stand in brackets, which no name in a source has.
        method = method.partition("[")[0]
        if method in names:
            return method, True
        if found := max((name for name in names if method.startswith(f"{name}_")), key=len, default=""):
            return found, True
        for word in (self.device, UNNAMED_DEVICE.lower()):
            head, device, tail = method.rpartition(f"_{word}")
            if device and (not tail or tail.startswith("_")):
                return head, False
        # Without the device's word nothing was generated for it, so the name is the one in the source.
        return method, True


def no_source_names(_file: str) -> frozenset[str]:
    """For results without a source tree at hand."""
    return frozenset()


def names_in(tree: SourceTree) -> SourceNames:
    """The test functions of each file of an upstream tree; a file that is missing or does not parse has none."""
    known: dict[str, frozenset[str]] = {}

    def names(file: str) -> frozenset[str]:
        if file not in known:
            known[file] = frozenset(_test_functions(tree.read(file) or ""))
        return known[file]

    return names


def _test_functions(source: str) -> Iterator[str]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test"):
            yield node.name


def when(value: object) -> datetime | None:
    """A time in ISO 8601, in UTC; without a zone it is taken for UTC. None when it is not one."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def seconds(value: object) -> float | None:
    """A duration in seconds, None when it is not one."""
    try:
        number = float(value) if isinstance(value, str | int | float) else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
