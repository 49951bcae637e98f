"""What two torch wheels differ in, through stage 1: `python -m tests.benchmarks.bench_wheel_pair OLD NEW`.

Each is a `.whl` file or a folder in which torch is installed. Takes minutes: some 900 Python files and 500 headers
differ between two minor versions. Prints one count a line, each after a word for what is counted:

    files     Python files and headers that came, went, moved or changed, and those that differ in comments only
    functions definitions that came, went or changed, and of these annotations or texts alone
    op info   operators whose entry came, went, or changed in more than skips and decorators; and how
    native    operators of the list that came, went or changed, without dispatch keys of other backends

and then, beside what is known of the pair 2.13.0 and 2.14.1, a table of both with the difference.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from selector.change import ChangeSet, Effect, FactKind, Status, analyse_trees
from selector.change.wheels import open_wheel
from tests.benchmarks.wheel_functions import FunctionCounts, count_functions

_OF_PYTHON = frozenset(
    {FactKind.FUNCTION, FactKind.CLASS, FactKind.GOLDEN_TEXT, FactKind.HARNESS, FactKind.SAMPLE_FUNCTION}
)

_OF_OTHER_DATABASES = ("module_", "optim_")  # how functions are called that make inputs for modules and optimizers


_DEFS = "each definition outside functions; docstrings left out"


@dataclass(frozen=True, slots=True)
class Row:
    """One count, what was expected of it, and how it is counted."""

    name: str
    expected: int
    ours: int
    explanation: str


def main() -> int:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--facts", action="store_true", help="list the facts about operators as well")
    wanted = parser.parse_args()
    start = time.perf_counter()
    old, new = open_wheel(wanted.old), open_wheel(wanted.new)
    change = analyse_trees(old, new)
    for line in (*_files(change), *_functions(change), *_entries(change), *_operators(change)):
        print(line)
    if wanted.facts:
        for fact in change.facts:
            if fact.op and fact.effect not in (Effect.EXPECTATION, Effect.OTHER_BACKEND):
                print(
                    " ; ".join((fact.file, str(fact.line), fact.kind, fact.symbol, fact.op, fact.effect, fact.evidence))
                )
    print(table(rows(change, count_functions(old, new))))
    print(f"seconds: {time.perf_counter() - start:.0f}")
    return 0


def rows(change: ChangeSet, functions: FunctionCounts) -> list[Row]:
    """What is known of the pair 2.13.0 and 2.14.1, and what was counted."""
    found: list[Row] = []
    for suffix, known in ((".py", (84, 17, 877)), (".h", (97, 18, 468))):
        counts = Counter(file.status for file in change.files if file.path.endswith(suffix))
        moved = counts[Status.RENAMED]
        counted = (counts[Status.ADDED] + moved, counts[Status.DELETED] + moved, counts[Status.MODIFIED])
        for words, expected, ours in zip(("added", "removed", "modified"), known, counted, strict=True):
            found.append(Row(f"{suffix} files {words}", expected, ours, f"{moved} moved ones on both sides"))
    known_of_functions = (42_968, 2_884, 895, 4_258, 3_566)
    for field, expected in zip(fields(functions), known_of_functions, strict=True):
        found.append(Row(f"functions, {field.name.replace('_', ' ')}", expected, getattr(functions, field.name), _DEFS))
    entries = [fact for fact in change.facts if fact.kind is FactKind.OP_INFO and not fact.file.endswith("/hop_db.py")]
    for words, expected in (("new entry", 3), ("entry removed", 2)):
        ours = sum(fact.evidence == words for fact in entries)
        found.append(Row(f"op info, {words}", expected, ours, "higher-order operators have a list of their own"))
    native = [fact for fact in change.facts if fact.kind is FactKind.NATIVE_FUNCTION]
    changed = {
        fact.symbol
        for fact in native
        if fact.evidence not in ("added", "removed") and fact.effect is not Effect.OTHER_BACKEND
    }
    why = "linalg_vector_norm under SparseCPU, a layout of the CPU, counts here"
    return [*found, Row("native functions, changed for a device", 13, len(changed), why)]


def table(known: Sequence[Row]) -> str:
    """Expected, counted, difference and what is counted how, one row a line."""
    lines = [f"{'':40}{'expected':>9}{'ours':>9}{'differs':>10}"]
    for row in known:
        share = 100 * (row.ours - row.expected) / row.expected
        lines.append(f"{row.name:40}{row.expected:>9}{row.ours:>9}{share:>+8.2f} %  {row.explanation}")
    return "\n".join(lines)


def _files(change: ChangeSet) -> Iterator[str]:
    for suffix in (".py", ".h"):
        files = [file for file in change.files if file.path.endswith(suffix)]
        counts = Counter(file.status.value for file in files)
        quiet = sum(file.noop is not None or file.only_documents for file in files)
        yield f"files {suffix}: {_counted(counts)}; {quiet} in comments, docstrings or formatting only"


def _functions(change: ChangeSet) -> Iterator[str]:
    """Each changed definition once, whatever it is about."""
    found = {
        (f.file, f.symbol): f for f in change.facts if f.kind in _OF_PYTHON and f.file.endswith(".py") and f.symbol
    }
    effects = Counter(fact.effect.value for fact in found.values())
    yield f"functions and classes: {len(found)}; {_counted(effects)}"


def _entries(change: ChangeSet) -> Iterator[str]:
    facts = [fact for fact in change.facts if fact.kind is FactKind.OP_INFO]
    for words in ("new entry", "entry removed"):
        names = sorted(fact.op for fact in facts if fact.evidence == words)
        yield f"op info, {words}: {len(names)} ({', '.join(names)})"
    facts = [fact for fact in facts if fact.evidence not in ("new entry", "entry removed")]
    samples = [fact for fact in change.facts if fact.kind is FactKind.SAMPLE_FUNCTION]
    facts += [fact for fact in samples if not fact.symbol.startswith(_OF_OTHER_DATABASES)]
    yield f"op info, changed: {_by_effect([(fact.op, fact.effect) for fact in facts if '_refs.' not in fact.op])}"


def _operators(change: ChangeSet) -> Iterator[str]:
    for kind in (FactKind.NATIVE_FUNCTION, FactKind.DERIVATIVE):
        facts = [fact for fact in change.facts if fact.kind is kind]
        for words in ("added", "removed"):
            names = sorted(fact.symbol for fact in facts if fact.evidence == words)
            yield f"{kind.value}, {words}: {len(names)} ({', '.join(names)})"
        changed = [fact for fact in facts if fact.evidence not in ("added", "removed")]
        yield f"{kind.value}, changed: {_by_effect([(fact.symbol, fact.effect) for fact in changed])}"


def _by_effect(pairs: list[tuple[str, Effect]]) -> str:
    kinds = Counter(effect.value for _, effect in set(pairs))
    noticed = {name for name, effect in pairs if effect not in (Effect.EXPECTATION, Effect.OTHER_BACKEND)}
    return f"{len({name for name, _ in pairs})}, of which {len(noticed)} matter to a device; {_counted(kinds)}"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "none"


if __name__ == "__main__":
    sys.exit(main())
