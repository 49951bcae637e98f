"""The function map of the chosen files, recorded by the runner in one more run and kept as one file: `RecordedMap`.

What began before a file's first test (the import of torch included) counts for the whole file.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path

from selector.known import FunctionId
from tests.benchmarks.mutation_runs import BaseFile, Bench, write_json


class RecordedMap:
    """Which base tests, or whole files, executed a function. What is defined inside a function is part of it."""

    def __init__(self, executed: Mapping[str, Collection[str]], files: Collection[str]) -> None:
        self._executed, self._files = executed, files

    def executing(self, functions: Collection[FunctionId]) -> Mapping[FunctionId, Collection[str]]:
        """The base tests and files by function; nothing for one that never began."""
        return {one: self._of(one) for one in functions}

    def _of(self, one: FunctionId) -> Collection[str]:
        parts = one.name.split(".")
        names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
        return next((found for name in names if (found := self._executed.get(f"{one.path}:{name}"))), ())

    def recorded_files(self) -> Collection[str]:
        return self._files


def recorded_map(bench: Bench, files: list[BaseFile], kept: Path) -> RecordedMap:
    """The map in the file `kept`, recorded now if it is not there."""
    if not kept.is_file():
        executed: dict[str, set[str]] = defaultdict(set)
        for file in files:
            for test, functions in bench.executed(file).items():
                for function in functions:
                    executed[function].add(file.tests.get(test, file.file))
        write_json(kept, {function: sorted(tests) for function, tests in sorted(executed.items())})
    return RecordedMap(json.loads(kept.read_text(encoding="utf-8")), [file.file for file in files])
