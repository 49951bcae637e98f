"""What became of the tests between two trees: the classes, how right they are, and what it takes.

`python -m tests.benchmarks.bench_upgrade BASE HEAD [--cache FILE] [--judge FILE]` compares two folders twice, the
second time with the cache that the first has written, and prints the tests in each class, the seconds, the peak memory,
and how many of the labelled tests were told right, with those that were not.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from selector.catalog import CatalogFile
from selector.trees import DirectoryTree
from selector.types import BaseTest
from selector.upgrade.comparing.classify import compare_tests
from selector.upgrade.types import ChangedTest, TestChange, TestDifference

LABELS = Path(__file__).with_name("upgrade_ground_truth.json")


@dataclass(frozen=True, slots=True)
class Sample:
    """A test that was labelled by reading it. One that is gone is named as it was."""

    test: BaseTest
    label: TestChange
    stratum: str
    why: str


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", type=Path)
    parser.add_argument("head", type=Path)
    parser.add_argument("--cache", type=Path, help="keep what was read here; else in a folder that is removed")
    parser.add_argument("--judge", type=Path, default=LABELS, help="labelled tests of this pair")
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        cache = CatalogFile(wanted.cache or Path(scratch, "catalog"), lambda note: print(note, file=sys.stderr))
        for state in ("first", "second"):
            wall, processor = time.perf_counter(), _processor_s()
            difference = compare_tests(DirectoryTree(wanted.base), DirectoryTree(wanted.head), cache)
            seconds, worked = time.perf_counter() - wall, _processor_s() - processor
            print(f"{state} time: {seconds:.1f} s, {worked:.1f} s of processors, {_peak_mb():.0f} MB at most")
    print("\n".join(figures(difference)))
    samples = read_samples(json.loads(wanted.judge.read_text(encoding="utf-8")))
    print("\n".join(scored(difference, samples)))
    return 0


def figures(difference: TestDifference) -> Iterator[str]:
    """The tests of each class, and the notes."""
    yield f"{len(difference.tests)} tests in {difference.files_before} files before, {difference.files_after} after"
    for change in TestChange:
        holds = sum(change in test.changes for test in difference.tests)
        yield f"{difference.count(change):7} {change.value:11} ({holds} beside others)"
    yield from (f"note: {note}" for note in difference.notes)


def read_samples(document: Mapping[str, object]) -> list[Sample]:
    rows = document["samples"]
    assert isinstance(rows, list)
    return [
        Sample(
            BaseTest(row["file"], row["cls"], row["test"]), TestChange(row["label"]), row["stratum"], row.get("why", "")
        )
        for row in rows
    ]


def scored(difference: TestDifference, samples: list[Sample]) -> Iterator[str]:
    """How many samples were told right, and each that was not with what speaks for the wrong answer."""
    told = {test.test: test for test in difference.tests}
    told |= {test.former: test for test in difference.tests if test.former is not None}
    wrong = [sample for sample in samples if not _is_right(sample, told.get(sample.test))]
    yield f"{len(samples) - len(wrong)} of {len(samples)} labelled tests are told right"
    for sample in wrong:
        changed = told.get(sample.test)
        said = f"{changed.change.value} ({changed.test})" if changed else "not there"
        yield f"  {sample.test}: {sample.label.value} ({sample.why}), told {said}"
        for evidence in changed.evidence[:3] if changed else ():
            yield f"    {evidence.kind.value} {evidence.symbol}: {evidence.text} {' > '.join(evidence.chain)}"


def _is_right(sample: Sample, changed: ChangedTest | None) -> bool:
    """A renamed test has to be found again under the name that the label gives, not under any."""
    if changed is None or changed.change is not sample.label:
        return False
    return sample.label is not TestChange.RENAMED or changed.test.name == sample.why


def _processor_s() -> float:
    """Of this process and those it has waited for."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, kinds))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    sys.exit(main())
