"""What shards printed in a seeded record: the newest runs have a log, the newest of a pull request a long one."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence

from relay.contract import LogKind
from tests.benchmarks.bulk import Row, Written
from tests.benchmarks.seed_rows import SeededRun

#: Runs whose log is not forgotten yet, and chunks of each; the long one has as many as a shard of hours leaves.
_LOGGED, _CHUNKS, _LONG = 1_000, 30, 3_000
_LINES = 25
_FAILS_AT = 12
_TEXT = "passed       0.131 s  test/test_ops_{0}.py::TestOpsSPYRE::test_operator_{1}_spyre_float32"


def shard_logs(told: Sequence[SeededRun]) -> Iterator[Row]:
    """One for the selection and one for the tests of each run that has a log."""
    first = 1
    for run, chunks in _logged(told):
        for shard in (2 * run.id - 1, 2 * run.id):
            failed = run.breaks and shard % 2 == 0
            yield {
                "id": shard,
                "run_id": run.id,
                "shard_id": shard,
                "attempt": 1,
                "began_at": run.at,
                "taken": chunks * _LINES,
                "lines": chunks * _LINES,
                "bytes": chunks * _BYTES,
                "failures": chunks if failed else 0,
                "full": False,
                "failed_chunk": first + 1 if failed else None,
                "failed_line": _FAILS_AT if failed else None,
            }
        first += 2 * chunks


def log_chunks(told: Sequence[SeededRun]) -> Iterator[Row]:
    """Both shards speak by turns."""
    bodies = {breaks: Written(zlib.compress(json.dumps(_body(breaks=breaks)).encode())) for breaks in (False, True)}
    number = 0
    for run, chunks in _logged(told):
        for part in range(chunks):
            for shard in (2 * run.id - 1, 2 * run.id):
                number += 1
                yield {
                    "id": number,
                    "run_id": run.id,
                    "log_id": shard,
                    "first_line": part * _LINES,
                    "lines": _LINES,
                    "bytes": _BYTES,
                    "body": bodies[bool(run.breaks) and shard % 2 == 0],
                }


def _logged(told: Sequence[SeededRun]) -> Iterator[tuple[SeededRun, int]]:
    newest = max((run.id for run in told if run.pr is not None), default=0)
    for run in told[-_LOGGED:]:
        yield run, _LONG if run.id == newest else _CHUNKS


def _body(*, breaks: bool) -> list[list[object]]:
    body: list[list[object]] = [[0.25 * line, LogKind.TEST, _TEXT.format(line % 4, line)] for line in range(_LINES)]
    if breaks:
        body[_FAILS_AT][1] = LogKind.FAILURE
    return body


_BYTES = sum(8 + len(str(text)) for _, _, text in _body(breaks=False))
