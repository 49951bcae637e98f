"""What is selected for one mutant: by the whole selector, cold and with the function map, and by the others.

The change is the mutant's diff without a word of description, on the tree as it is. The tree has no git, so nobody has
a history: that is the cold start of section 4.5 of the specification's figures, for all columns alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from selector.catalog import CatalogCache, build_catalog
from selector.change import ChangeSet, analyse
from selector.known import NOTHING, ExecutedFunctions, FunctionId, Known
from selector.ownership import link_tests
from selector.ownership.signals import file_signals
from selector.pipeline import Outcome, select
from selector.trees import DirectoryTree, SourceFile, blob_id_of
from tests.benchmarks.mutation_plan import Mutant
from tests.benchmarks.target_determination import TargetDetermination

COLD = "ours, cold"
MAPPED = "ours, map"
TD = "upstream's TD"
BM25 = "BM25"
FUSED = "RRF(TD, BM25)"
_LEXICAL = ("paths in path", "paths in tests", "code in tests", "description in tests")
#: The customary constant of reciprocal rank fusion.
_FUSION = 60


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the selector makes of one mutant. `orders` are test files, best first, by ranking. `first` are the base
    tests that the map ties to the change (whole files as `file`), the first tier; their files are the second."""

    orders: Mapping[str, Sequence[str]]
    first: Sequence[str]
    state: str
    symbols: Sequence[str]

    @property
    def closure(self) -> frozenset[str]:
        return frozenset(test.partition("::")[0] for test in self.first)


class LaidTree:
    """A tree with another text for one file."""

    def __init__(self, tree: DirectoryTree, path: str, text: bytes) -> None:
        self._tree, self._laid = tree, SourceFile(path, blob_id_of(text), text.decode())

    def read(self, path: str) -> str | None:
        return self._laid.text if path == self._laid.path else self._tree.read(path)

    def paths(self) -> Sequence[str]:
        return self._tree.paths()

    def blob_id(self, path: str) -> str | None:
        return self._laid.blob_id if path == self._laid.path else self._tree.blob_id(path)

    def read_all(self, paths: Sequence[str]) -> Iterator[SourceFile]:
        for file in self._tree.read_all(paths):
            yield self._laid if file.path == self._laid.path else file


class Rankings:
    """Selects on the tree at `root` among `files`. `executed` is the function map, if there is one."""

    def __init__(
        self, root: Path, files: Sequence[str], executed: ExecutedFunctions | None, cache: CatalogCache | None
    ) -> None:
        self._tree, self._files, self._executed = DirectoryTree(root), sorted(files), executed
        self._theirs, self._cache = TargetDetermination(root), cache
        # A mutant changes no test file, so all have one catalog.
        self._catalog = build_catalog(self._tree, cache)

    def of(self, mutant: Mutant, source: bytes) -> Chosen:
        """Everything that is selected for a mutant of `source`; some seconds of work."""
        site = mutant.site
        diff, head = site.diff(source), LaidTree(self._tree, site.path, site.mutated(source))
        change = analyse(diff, self._tree, head)
        known = {COLD: NOTHING} | ({MAPPED: Known(executed=self._executed)} if self._executed is not None else {})
        outcomes = {
            name: select(diff, self._tree, head, llm=None, manifests=None, known=what, cache=self._cache)
            for name, what in known.items()
        }
        orders = {name: self._ours(outcome, change, known[name]) for name, outcome in outcomes.items()}
        orders[TD] = self._order(self._theirs.scores(self._files, [site.path], "", {}))
        orders[BM25] = self._order(self._lexical(change))
        orders[FUSED] = self._order(_fused(orders[TD], orders[BM25]))
        symbols = [f"{file.path}: {name}" for file in change.files for name in file.symbols]
        return Chosen(orders, self._tied(change), str(outcomes[COLD].selection.state), symbols)

    def _ours(self, outcome: Outcome, change: ChangeSet, known: Known) -> list[str]:
        """Files with a test that must run, then by the probability that the change breaks the file."""
        scores = dict(link_tests(change, self._catalog, known=known).probabilities)
        for candidate in (*outcome.selection.kept, *outcome.selection.dropped):
            file = candidate.test.file
            scores[file] = max(scores.get(file, 0.0), candidate.probability + candidate.must_run)
        return self._order(scores)

    def _lexical(self, change: ChangeSet) -> dict[str, float]:
        signals = file_signals(change, self._catalog, "", None)
        return {path: sum(found[name].value for name in _LEXICAL if name in found) for path, found in signals.items()}

    def _tied(self, change: ChangeSet) -> list[str]:
        if self._executed is None:
            return []
        functions = [FunctionId(file.path, name) for file in change.files for name in file.symbols]
        return sorted({test for tests in self._executed.executing(functions).values() for test in tests})

    def _order(self, scores: Mapping[str, float]) -> list[str]:
        """Equals go by name."""
        return sorted(self._files, key=lambda path: (-scores.get(path, 0.0), path))


def _fused(*orders: Sequence[str]) -> dict[str, float]:
    scores: dict[str, float] = defaultdict(float)
    for order in orders:
        for rank, path in enumerate(order, 1):
            scores[path] += 1 / (_FUSION + rank)
    return scores
