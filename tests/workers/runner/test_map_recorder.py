"""Files are run, and the map names their base tests by the functions that these executed."""

from __future__ import annotations

from selector.known import FunctionId
from tests.workers.runner.bench import FILE, Bench
from workers.runner.map_recorder import MapRecorder
from workers.runner.sandbox import Unconfined


def test_a_recorded_file_is_in_the_map_and_one_that_does_not_import_is_told(bench: Bench) -> None:
    bench.write("def late(): pass\ndef never(): pass\ndef test_late(): late()\n")
    bench.write("raise RuntimeError('broken')\n", "test/test_broken.py")
    problems: list[str] = []
    recorder = MapRecorder(bench.installation, bench.scratch, Unconfined("for a test"), bench.limits)
    known = recorder.record_files(bench.tree, [FILE, "test/test_broken.py"], problems.append)
    late, never = FunctionId(FILE, "late"), FunctionId(FILE, "never")
    assert known.executing([late, never]) == {late: [f"{FILE}::test_late"], never: []}
    assert list(known.recorded_files()) == [FILE]
    assert [problem.partition(" ")[0] for problem in problems] == ["test/test_broken.py"]
