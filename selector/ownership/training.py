"""Learning the model's weights from changes whose failing test files are known.

    python -m tests.benchmarks.selection --history GIT_DIR --cases FILE --examples EXAMPLES
    python -m selector.ownership.training EXAMPLES --out selector/ownership/weights.json

Logistic regression by Newton's method, towards prior weights rather than towards zero: some signals occur in one change
out of fifty, and a handful of cases must not decide that a test which walks all modules has nothing to do with a new
module. Deterministic, without any package.

What was tried and is not here, by the cross-validated loss on 60 cases: how many tests a file has (worse: large files
break more often, but not enough to be put before those that say what changed).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from selector.ownership.model import STANDS_ALONE, Model
from selector.ownership.signals import HISTORY_SIGNALS, RULE_SIGNALS, SIGNALS

#: What each signal is thought to be worth before any case was seen, in logarithms of odds. Signals that cannot be
#: strong by chance (an edited test, a walk over modules after one was added) are given more.
PRIOR_WEIGHTS: Mapping[str, float] = {
    "paths in tests": 2.0,
    "paths in path": 1.5,
    "code in tests": 2.0,
    "description in tests": 1.0,
    "co-change share": 1.0,
    "co-change": 1.5,
    "walks packages": 1.0,
    "walks new modules": 3.0,
    "reads docstrings": 3.0,
    "gradient tests": 1.5,
    "operator tests": 1.0,
    "leans on a changed file": 1.5,
    "module tests": 1.0,
    "optimizer tests": 1.5,
    "listed together": 1.0,
    "imports lead there": 2.0,
    "edited test": 2.0,
    "path": 1.0,
    "import": 1.0,
    "mention": 1.0,
    "operator mention": 1.0,
}
#: How many cases the prior weighs as much as.
_STRENGTH = 1.0
#: One file in so many is to stand by itself.
_STANDING_SHARE = 10
_ROUNDS = 12
_SMALL = 1e-6

Row = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Example:
    """One change: the signals of every test file, and the files it broke. `date` (ISO) orders the examples."""

    name: str
    date: str
    broke: frozenset[str]
    files: Mapping[str, Mapping[str, float]]


def fit(examples: Sequence[Example], *, history: bool) -> Model:
    """The weights that explain the examples best. Within each example the broken files count as much as the others,
    which is what the intercept means by even odds; `Model.prior` is for the real share of broken files.

    Raises `ValueError` when no example has a broken file.
    """
    used = [example for example in examples if example.broke & example.files.keys()]
    if not used:
        raise ValueError("no example names a broken file that is in its tree")
    names = [name for name in (*SIGNALS, *RULE_SIGNALS) if history or name not in HISTORY_SIGNALS]
    prior = [PRIOR_WEIGHTS[name] for name in names] + [0.0]
    rows, labels, weights = _table(used, names)
    solution = _newton(rows, labels, weights, prior)
    found = {name: round(max(0.0, weight), 4) for name, weight in zip(names, solution, strict=False)}
    shares = [len(example.broke & example.files.keys()) / len(example.files) for example in used]
    typical = sorted(shares)[len(shares) // 2]
    model = Model(found, round(solution[-1], 4), round(_log_odds(typical), 4))
    return replace(model, shift=round(_log_odds(STANDS_ALONE) - _level(model, used), 4))


def _level(model: Model, examples: Sequence[Example]) -> float:
    """The sum that the first tenth of all files reaches."""
    sums = sorted(model.sum(signals) for example in examples for signals in example.files.values())
    return sums[-1 - len(sums) // _STANDING_SHARE]


def _log_odds(share: float) -> float:
    return math.log(share / (1 - share))


def cross_validated(examples: Sequence[Example], folds: int, *, history: bool) -> dict[str, Model]:
    """For each example a model that has not seen it: every `folds`-th in order of time is left out in turn."""
    ordered = sorted(examples, key=lambda example: (example.date, example.name))
    models: dict[str, Model] = {}
    for fold in range(folds):
        model = fit([one for place, one in enumerate(ordered) if place % folds != fold], history=history)
        models.update((one.name, model) for place, one in enumerate(ordered) if place % folds == fold)
    return models


def _table(examples: Sequence[Example], names: Sequence[str]) -> tuple[list[Row], list[float], list[float]]:
    """Rows of the signals that are there, with a constant last; labels; weights."""
    numbers = {name: number for number, name in enumerate(names)}
    rows: list[Row] = []
    labels: list[float] = []
    weights: list[float] = []
    for example in examples:
        broken = len(example.broke & example.files.keys())
        for path in sorted(example.files):
            signals = example.files[path].items()
            row = [(numbers[name], value) for name, value in signals if name in numbers and value]
            rows.append([*sorted(row), (len(names), 1.0)])
            labels.append(float(path in example.broke))
            weights.append(1.0 / broken if path in example.broke else 1.0 / len(example.files))
    return rows, labels, weights


def _newton(
    rows: Sequence[Row], labels: Sequence[float], weights: Sequence[float], prior: Sequence[float]
) -> list[float]:
    size = len(prior)
    pull = [_STRENGTH] * (size - 1) + [_SMALL]
    solution = list(prior)
    for _ in range(_ROUNDS):
        slope = [pull[one] * (solution[one] - prior[one]) for one in range(size)]
        curve = [[pull[one] if one == other else 0.0 for other in range(size)] for one in range(size)]
        for row, label, weight in zip(rows, labels, weights, strict=True):
            value = sum(solution[place] * amount for place, amount in row)
            chance = 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, value))))
            _add(slope, curve, row, weight * (chance - label), weight * chance * (1.0 - chance))
        step = _solve(curve, slope)
        solution = [one - change for one, change in zip(solution, step, strict=True)]
        if max(abs(change) for change in step) < _SMALL:
            break
    return solution


def _add(slope: list[float], curve: list[list[float]], row: Row, error: float, spread: float) -> None:
    for place, amount in row:
        slope[place] += error * amount
        line = curve[place]
        for other, value in row:
            line[other] += spread * amount * value


def _solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Gaussian elimination with pivots; the matrix is positive definite."""
    size = len(right)
    lines = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for column in range(size):
        pivot = max(range(column, size), key=lambda place: abs(lines[place][column]))
        lines[column], lines[pivot] = lines[pivot], lines[column]
        for place in range(column + 1, size):
            factor = lines[place][column] / lines[column][column]
            for other in range(column, size + 1):
                lines[place][other] -= factor * lines[column][other]
    solution = [0.0] * size
    for column in reversed(range(size)):
        known = sum(lines[column][other] * solution[other] for other in range(column + 1, size))
        solution[column] = (lines[column][size] - known) / lines[column][column]
    return solution


def read_examples(lines: Iterable[str]) -> list[Example]:
    """Examples from JSON lines as `tests.benchmarks.selection --examples` writes them. Raises `ValueError`."""
    try:
        documents = [json.loads(line) for line in lines if line.strip()]
        return [Example(one["name"], one["date"], frozenset(one["broke"]), one["files"]) for one in documents]
    except (KeyError, TypeError) as error:
        raise ValueError(f"these are no examples: {error!r} is missing or of another kind") from error


def document(examples: Sequence[Example]) -> str:
    """The text of a file of weights, learned from all examples."""
    models = {
        "with history": asdict(fit(examples, history=True)),
        "without history": asdict(fit(examples, history=False)),
    }
    dates = sorted(example.date for example in examples)
    about = {"examples": len(examples), "from": dates[0], "to": dates[-1]}
    return json.dumps({"learned_from": about, "models": models}, indent=1) + "\n"


def main() -> int:
    """Read examples, write weights."""
    parser = argparse.ArgumentParser(prog="python -m selector.ownership.training", description="learn the weights")
    parser.add_argument("examples", type=Path, help="JSON lines of `tests.benchmarks.selection --examples`")
    parser.add_argument("--out", type=Path, required=True, help="the file of weights to write")
    wanted = parser.parse_args()
    try:
        text = document(read_examples(wanted.examples.read_text(encoding="utf-8").splitlines()))
    except (OSError, ValueError) as error:
        sys.stderr.write(f"cannot learn from {wanted.examples}: {error}\n")
        return 1
    wanted.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
