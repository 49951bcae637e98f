"""Small grounds to cut plans on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from selector.catalog import Catalog, CatalogTest, Origin, TestFile
from selector.cut import Ground
from selector.manifests import ManifestDocument, ManifestSet, load_manifests
from selector.types import BaseTest, Candidate

FILES = {"test/test_a.py": 4, "test/test_b.py": 2, "test/test_c.py": 10}


class Recorded:
    """Durations on record, by file and test."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self._seconds = seconds
        self.asked: list[Collection[str]] = []

    def seconds(self, files: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        self.asked.append(files)
        told: dict[str, dict[str, float]] = {}
        for test, seconds in self._seconds.items():
            if test.partition("::")[0] in files:
                told.setdefault(test.partition("::")[0], {})[test] = seconds
        return told


def base_test(file: str, number: int) -> BaseTest:
    """`b`, 1 is `test/test_b.py::TestB::test_1`."""
    return BaseTest(f"test/test_{file}.py", f"Test{file.upper()}", f"test_{number}")


def candidate(
    file: str, number: int, *, score: float = 0.5, probability: float = 0.1, must_run: bool = False
) -> Candidate:
    return Candidate(base_test(file, number), (), must_run, score, probability)


def catalog(files: Mapping[str, int] = FILES) -> Catalog:
    """Files with so many tests each."""
    return Catalog({path: _file(path, count) for path, count in files.items()})


def _file(path: str, count: int) -> TestFile:
    letter = path.removesuffix(".py")[-1]
    tests = tuple(_entry(base_test(letter, number)) for number in range(count))
    return TestFile(path, (), frozenset(), frozenset(), tests)


def _entry(test: BaseTest) -> CatalogTest:
    return CatalogTest(test, frozenset(), frozenset(), Origin(test.file, f"{test.cls}.{test.name}"))


def ground(
    considered: Iterable[Candidate],
    *,
    seconds: Mapping[str, float] | None = None,
    probabilities: Mapping[str, float] | None = None,
    manifests: ManifestSet | None = None,
) -> Ground:
    durations = None if seconds is None else Recorded(seconds)
    return Ground(catalog(), manifests, tuple(considered), probabilities or {}, durations)


def listing(*files: str) -> ManifestSet:
    """A manifest that lets everything of these files run."""
    blocks = "".join(
        f"    - path: ${{TORCH_ROOT}}/{file}\n      unlisted_test_mode: mandatory_success\n      tests: []\n"
        for file in files
    )
    return load_manifests([ManifestDocument("device.yaml", f"test_suite_config:\n  files:\n{blocks}")])
