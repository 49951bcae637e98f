"""The table of mutants: a row for each with what it breaks and what everybody would have selected, and the means.

Rows are those of section 4.5 of the specification's figures: a recall is the share of the failing tests. Mutants that
break nothing have no recall; what is selected for them counts in the share of selected tests over all mutants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.benchmarks.mutation_figures import SHARES, Figure, Labels, Summary, first_files, summary
from tests.benchmarks.mutation_plan import Mutant
from tests.benchmarks.mutation_rankings import BM25, COLD, FUSED, MAPPED, TD, Chosen

MAP = "map"
CLOSURE = "closure"
#: Recall at most this far below one counts as one.
_WHOLE = 1e-9
_RANKINGS = ((COLD, "cold"), (MAPPED, "mapped"), (TD, "TD"), (BM25, "BM25"), (FUSED, "RRF"))
_TITLE = 62


@dataclass(frozen=True, slots=True)
class Row:
    """One mutant with its truth and what was chosen for it; without labels torch could not be imported with it."""

    mutant: Mutant
    labels: Labels | None
    chosen: Chosen

    @property
    def columns(self) -> Mapping[str, Figure]:
        """Every selection's figure by the name of its column. Without labels there is none."""
        if self.labels is None:
            return {}
        found = {}
        if MAPPED in self.chosen.orders:
            found = {MAP: self.labels.figure(self.chosen.first), CLOSURE: self.labels.figure(self.chosen.closure)}
        for ranking, name in _RANKINGS:
            for share in SHARES if ranking in self.chosen.orders else ():
                found[f"{name} {share:.0%}"] = self.labels.figure(first_files(self.chosen.orders[ranking], share))
        return found


def table(rows: Sequence[Row]) -> str:
    """Everything for people."""
    found = [(row, row.labels, row.columns) for row in rows if row.labels is not None]
    ordered = sorted(found, key=lambda it: (-len(it[1].failing), it[0].mutant.title))
    if not ordered:
        return "no mutant has been run"
    names = list(ordered[0][2])
    lines = [_line("mutated function", "failing", names)]
    for row, labels, columns in ordered:
        breaks = f"{len(labels.failing)}/{len(labels.broken_files)}"
        lines.append(_line(row.mutant.title, breaks, [_cell(name, columns[name]) for name in names]))
    totals = {name: summary([columns[name] for _, _, columns in ordered]) for name in names}
    lines += _totals(totals)
    return "\n".join((*lines, *_facts(rows)))


def _line(title: str, breaks: str, cells: Sequence[str]) -> str:
    return f"{title[:_TITLE]:{_TITLE}} {breaks:>8}" + "".join(f"{cell:>14}" for cell in cells)


def _cell(name: str, figure: Figure) -> str:
    recall = "  - " if figure.recall is None else f"{figure.recall:.2f}"
    return f"{recall} @{figure.selected:.1%}" if name in (MAP, CLOSURE) else recall


def _totals(totals: Mapping[str, Summary]) -> list[str]:
    def line(title: str, text: Mapping[str, str]) -> str:
        return _line(title, "", list(text.values()))

    return [
        line("mean recall", {name: f"{it.recall:.3f}" for name, it in totals.items()}),
        line("smallest recall", {name: f"{it.worst:.2f}" for name, it in totals.items()}),
        line("faulty-change recall", {name: f"{it.hits:.2f}" for name, it in totals.items()}),
        line("tests selected, mutants that break", {name: f"{it.selected:.1%}" for name, it in totals.items()}),
        line("tests selected, all mutants", {name: f"{it.selected_of_all:.1%}" for name, it in totals.items()}),
    ]


def _facts(rows: Sequence[Row]) -> list[str]:
    run = [row for row in rows if row.labels is not None]
    breaking = sum(bool(row.labels and row.labels.failing) for row in run)
    kinds = Counter(str(row.mutant.site.kind) for row in run)
    areas = {row.mutant.area for row in run}
    states = Counter(row.chosen.state for row in run)
    return [
        f"{len(run)} mutants over {len(areas)} areas, {breaking} of them break a test",
        "kinds: " + ", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())),
        "cold selections: " + ", ".join(f"{state} {count}" for state, count in sorted(states.items())),
        f"left out, because torch cannot be imported with them: {len(rows) - len(run)}",
    ]


def figures(rows: Sequence[Row]) -> list[Mapping[str, object]]:
    """The same as plain values, a mapping for each mutant."""
    return [
        {
            "title": row.mutant.title,
            "path": row.mutant.site.path,
            "line": row.mutant.site.line,
            "area": row.mutant.area,
            "kind": str(row.mutant.site.kind),
            "executed": row.mutant.executed,
            "symbols": list(row.chosen.symbols),
            "importable": row.labels is not None,
            "failing": sorted(row.labels.failing) if row.labels is not None else [],
            "columns": {
                name: {"recall": figure.recall, "selected": figure.selected, "hit": figure.hit}
                for name, figure in row.columns.items()
            },
        }
        for row in rows
    ]


def missed(rows: Sequence[Row]) -> list[str]:
    """The mutants of which the second tier misses a failing test, with the first few of these."""
    lines = []
    for row in rows:
        figure = row.columns.get(CLOSURE)
        if row.labels is None or figure is None or figure.recall is None or figure.recall > 1 - _WHOLE:
            continue
        gone = sorted(test for test in row.labels.failing if test.partition("::")[0] not in row.chosen.closure)
        lines.append(f"missed by the closure: {row.mutant.title}: {len(gone)} tests, such as {', '.join(gone[:3])}")
    return lines
