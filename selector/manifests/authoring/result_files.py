"""Reads results files: JUnit XML, and the service's own rows, which are those of `GET /api/v1/runs/{id}/tests`.

The rows are taken as plain mappings, because the selector knows nothing of the relay. A results file comes from
machines that ran untrusted tests: its size is capped, its texts are cut, and nothing in it is a path that is opened.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from selector.manifests.authoring.junit import read_junit
from selector.manifests.authoring.results import (
    DETAIL_CHARACTERS,
    Naming,
    Observation,
    ObservedTest,
    ResultsError,
    seconds,
    when,
)
from selector.types import CollectedTest

#: Bytes of one results file; a run over PyTorch's whole test tree writes about 20 MB of JUnit.
MAX_RESULT_BYTES = 64 * 1024 * 1024


def read_results(name: str, data: bytes, naming: Naming) -> tuple[ObservedTest, ...]:
    """The attempts recorded in one file: JUnit XML, a test page of the service, a list of its rows, or a run view
    with `run`, `shards` and `tests`. Raises ResultsError."""
    if len(data) > MAX_RESULT_BYTES:
        raise ResultsError(f"{name} is larger than {MAX_RESULT_BYTES // 1024 // 1024} MiB; give the results in parts")
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start == b"<":
        return tuple(read_junit(name, data, naming))
    if start in {b"{", b"["}:
        return tuple(read_rows(name, _json(name, data), naming))
    raise ResultsError(f"{name} is neither JUnit XML nor JSON")


def _json(name: str, data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{name} is not valid JSON: {error}") from error


def read_rows(name: str, value: object, naming: Naming) -> Iterator[ObservedTest]:
    """The attempts in the service's rows. A test that also ran on the base commit is read from there: a manifest says
    what holds without the change. Raises ResultsError."""
    page = {"tests": value} if isinstance(value, list) else value
    rows = page.get("tests") if isinstance(page, Mapping) else None
    if not isinstance(page, Mapping) or not isinstance(rows, list):
        raise ResultsError(f"{name} holds no list of tests; expected is what GET /api/v1/runs/ID/tests answers")
    run = page.get("run") if isinstance(page.get("run"), Mapping) else {}
    workers = {shard["id"]: str(shard.get("worker", "")) for shard in _mappings(page.get("shards")) if "id" in shard}
    for number, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise ResultsError(f"test {number + 1} in {name} is not a mapping")
        yield from _Row(name, number, row, naming).attempts(run, workers)


def _mappings(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class _Row:
    """One test of the service's list."""

    name: str
    number: int
    row: Mapping[str, object]
    naming: Naming

    def attempts(self, run: object, workers: Mapping[object, str]) -> Iterator[ObservedTest]:
        told = run if isinstance(run, Mapping) else {}
        at = when(told.get("finished_at") or told.get("started_at") or told.get("created_at"))
        title = f"run {told['id']}" if "id" in told else self.name
        machine = workers.get(self.row.get("shard_id"), "")
        test, known = self._test()
        for attempt in self._chosen():
            yield ObservedTest(
                test, self._observation(attempt), title, at, machine, seconds(attempt.get("duration_s")),
                str(attempt.get("detail", ""))[:DETAIL_CHARACTERS], known,
            )  # fmt: skip  # the order of the fields

    def _chosen(self) -> list[Mapping[str, object]]:
        attempts = _mappings(self.row.get("attempts"))
        if not attempts:
            return [self.row] if self.row.get("observation") else []
        return [attempt for attempt in attempts if attempt.get("tree") == "base"] or attempts

    def _observation(self, attempt: Mapping[str, object]) -> Observation:
        word = attempt.get("observation")
        if word not in set(Observation):
            raise ResultsError(f"test {self.number + 1} in {self.name} has no observation that is known here")
        return Observation(str(word))

    def _test(self) -> tuple[CollectedTest, bool]:
        file, *rest = self._text("id").split("::")
        if not rest or not all(rest):
            raise ResultsError(f"the id of test {self.number + 1} in {self.name} is not `file::Class::method`")
        test, known = self.naming.identify(file, rest[:-1], rest[-1])
        base = str(self.row.get("base", "")).removeprefix(f"{file}::")
        cls, _, method = base.rpartition("::")
        if not base or base == file or not test.method.startswith(method):
            return test, known  # a test that only its file describes
        return CollectedTest(test.id, test.file, cls.rpartition("::")[2], method, test.method), True

    def _text(self, key: str) -> str:
        value = self.row.get(key)
        if not isinstance(value, str) or not value:
            raise ResultsError(f"test {self.number + 1} in {self.name} has no `{key}`")
        return value
