"""What a plan found of the tests that are known to fail, and the table that compares models by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from selector.catalog import Catalog
from selector.types import BaseTest
from tests.benchmarks.selection_figures import interval

#: Shares of the seconds of all tests.
BUDGETS = (0.02, 0.05, 0.10, 0.25)
OFF = "off"
#: What a model that knows nothing may cost in recall.
ALLOWED = 0.01
#: Models that know nothing.
BLIND = ("random", "inverted")


@dataclass(frozen=True, slots=True)
class Plan:
    """One plan of one case: the recall of what fails, that of what must run, and the seconds chosen as a share of those
    of all tests."""

    recall: float
    must_run: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One case with one model: the plan for each budget, `filled` when what stage 3 puts off may fill it, and what it
    took to ask. `lost` counts must-run tests that a plan has not."""

    plans: Mapping[float, Plan]
    filled: Mapping[float, Plan]
    lost: int = 0
    turns: int = 0
    calls: int = 0
    tokens: int = 0


@dataclass
class Figures:
    """All cases by model, a model that was asked several times counting with the mean; `asked` are the cases in which
    stage 3 had something to ask."""

    rows: dict[str, dict[str, list[Judged]]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)

    def add(self, model: str, case: str, judged: Judged) -> None:
        self.rows.setdefault(model, {}).setdefault(case, []).append(judged)

    def of(self, model: str, cases: Collection[str], *, filled: bool, budget: float, what: str) -> list[float]:
        """One figure of each case."""
        values: list[float] = []
        for case in cases:
            plans = [(one.filled if filled else one.plans)[budget] for one in self.rows[model][case]]
            values.append(sum(getattr(plan, what) for plan in plans) / len(plans))
        return values

    def mean(self, model: str, cases: Collection[str], what: str) -> float:
        """The mean of a count."""
        counts = [getattr(one, what) for case in cases for one in self.rows[model][case]]
        return sum(counts) / len(counts) if counts else 0.0


def broken_tests(labels: Iterable[str], catalog: Catalog) -> list[frozenset[BaseTest]]:
    """The base tests of each label that the catalog has: a folder's files count one by one, a file with all its tests,
    a test with its base test, or with its file's where the tree has none of that name."""
    found: dict[str, frozenset[BaseTest]] = {}
    for label in labels:
        path, _, name = label.partition("::")
        for file in (it for it in catalog.files if (it.startswith(path) if path.endswith("/") else it == path)):
            tests = [one.test for one in catalog.files[file].tests]
            named = _base_of(name, tests) if name else None
            found[str(named) if named else file] = frozenset([named] if named else tests)
    return [tests for tests in found.values() if tests]


def _base_of(name: str, tests: Sequence[BaseTest]) -> BaseTest | None:
    """The base test of a generated one: classes and methods only ever get longer."""
    cls, _, method = name.partition("::")
    bases = [it for it in tests if cls.startswith(it.cls) and method.startswith(it.name)]
    return max(bases, key=lambda it: (len(it.name), len(it.cls), it), default=None)


def recall(broken: Sequence[frozenset[BaseTest]], planned: Collection[BaseTest]) -> float:
    """The mean over the labels of the share of their tests that is planned, which is how likely the failing one is
    among them."""
    return sum(len(tests.intersection(planned)) / len(tests) for tests in broken) / len(broken)


def table(figures: Figures, cases: Collection[str], *, filled: bool) -> Iterator[str]:
    """Lines: for each budget and model the recall, what it gains over stage 3 off, the share of the must-run tests
    that is planned, and the seconds chosen; then what it took to ask."""
    yield f"{'budget':<8}{'model':<10}{'recall':>8}{'difference (95 %)':>27}{'must-run':>10}{'seconds':>9}"
    for budget in BUDGETS:
        for model in figures.rows:
            recalls, must_run, seconds = (
                figures.of(model, cases, filled=filled, budget=budget, what=what)
                for what in ("recall", "must_run", "seconds")
            )
            gain, (low, high) = difference(figures, model, cases, filled=filled, budget=budget)
            gained = f"{gain:+.3f} ({low:+.3f}..{high:+.3f})" if model != OFF else ""
            mean = sum(recalls) / len(recalls)
            planned = f"{min(must_run):>10.3f}{sum(seconds) / len(seconds):>9.1%}"
            yield f"{f'{budget:.0%}':<8}{model:<10}{mean:>8.3f}{gained:>27}{planned}"
    for model in figures.rows:
        turns, calls, tokens = (figures.mean(model, cases, what) for what in ("turns", "calls", "tokens"))
        yield f"asking {model:<10}{turns:>5.1f} turns{calls:>5.1f} tool calls{tokens:>8.0f} tokens"


def difference(
    figures: Figures, model: str, cases: Collection[str], *, filled: bool, budget: float
) -> tuple[float, tuple[float, float]]:
    """What a model gains over stage 3 off, paired by case, and its bootstrap interval."""
    pairs = zip(
        figures.of(model, cases, filled=filled, budget=budget, what="recall"),
        figures.of(OFF, cases, filled=filled, budget=budget, what="recall"),
        strict=True,
    )
    gains = [ours - theirs for ours, theirs in pairs]
    return (sum(gains) / len(gains) if gains else 0.0, interval(gains))


def faults(figures: Figures, cases: Collection[str]) -> Iterator[str]:
    """What must not be: a lost must-run test, or a model that knows nothing and costs more than it may."""
    for model, rows in figures.rows.items():
        lost = sum(one.lost for case in cases for one in rows[case])
        if lost:
            yield f"{model}: {lost} must-run tests lost"
    for model, filled, budget in product((it for it in BLIND if it in figures.rows), (False, True), BUDGETS):
        gain, _ = difference(figures, model, cases, filled=filled, budget=budget)
        if gain < -ALLOWED:
            how = ", filled" if filled else ""
            yield f"{model}: {-gain:.3f} of recall lost at {budget:.0%} of the seconds{how}"
