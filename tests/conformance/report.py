"""Which rows of the conformance list have a test: `python -m tests.conformance.report`.

Reads the tests' source, so that it says the same whatever part of them is run: a test names its rows by
`@pytest.mark.row("WH01", ...)`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.conformance.rows import DIFFER, NOT_APPLICABLE, ROWS

FOLDER = Path(__file__).parent


def covered() -> Mapping[str, tuple[str, ...]]:
    """Row -> the tests that name it, as `file::test`."""
    found: dict[str, list[str]] = {}
    for file in sorted(FOLDER.glob("test_*.py")):
        for test, row in _named_in(file):
            found.setdefault(row, []).append(f"{file.name}::{test}")
    return {row: tuple(tests) for row, tests in found.items()}


def missing() -> tuple[str, ...]:
    """Rows that concern us and have no test."""
    known = covered()
    return tuple(row for row in ROWS if row not in known and row[:2] not in NOT_APPLICABLE)


def main() -> int:
    """Print the report; 1 when a row is missing."""
    known, without = covered(), missing()
    for section, reason in NOT_APPLICABLE.items():
        count = sum(row.startswith(section) for row in ROWS)
        sys.stdout.write(f"not applicable: {section}01..{section}{count:02} ({reason})\n")
    excused = sum(row[:2] in NOT_APPLICABLE for row in ROWS)
    both = sum(row in known for row in DIFFER)
    sys.stdout.write(f"covered {len(known)}, of these {both} in both modes; not applicable {excused}; ")
    sys.stdout.write(f"missing {len(without)}; total {len(ROWS)}\n")
    if without:
        sys.stdout.write("missing: " + " ".join(without) + "\n")
    return 1 if without else 0


def _named_in(file: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield from ((node.name, row) for row in _rows_of(node))


def _rows_of(test: ast.FunctionDef) -> Iterator[str]:
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.row":
            yield from (str(ast.literal_eval(argument)) for argument in mark.args)


if __name__ == "__main__":
    sys.exit(main())
