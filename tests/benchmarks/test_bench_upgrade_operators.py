"""The text of the installed release against importing it, and that a difference is seen."""

from __future__ import annotations

import pytest

from selector.upgrade.operators.table import OperatorEntry, OperatorTable
from selector.upgrade.types import Place
from tests.benchmarks.bench_upgrade_operators import Account, compare_differences, compare_one, main
from tests.benchmarks.imported_operators import Imported, ImportedEntry

FLOATS = frozenset({"float32"})


def imported(**dtypes: frozenset[str]) -> Imported:
    entries = {name: ImportedEntry("OpInfo", found, found, ()) for name, found in dtypes.items()}
    return Imported("2.0", entries, {"op_db": tuple(entries)})


def table(**dtypes: frozenset[str]) -> OperatorTable:
    entries = {name: OperatorEntry(name, "OpInfo", Place("db.py"), found, found) for name, found in dtypes.items()}
    return OperatorTable(entries, {"op_db": tuple(entries)})


def test_the_text_of_the_installed_release_says_what_importing_it_gives(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """More than a thousand entries in class, dtypes, decorators and lists."""
    monkeypatch.setattr("sys.argv", ["bench_upgrade_operators", "installed"])
    code = main()
    said = capsys.readouterr().out
    assert code == 0, said
    assert "is a list that the text does not tell" not in said


def test_what_is_unequal_is_listed() -> None:
    account = Account()
    compare_one(table(add=FLOATS, sub=FLOATS), imported(add=frozenset(), mul=FLOATS), account)
    assert set(account.unequal) == {"2.0 names", "2.0 dtypes", "2.0 dtypes of gradients", "2.0 lists"}
    assert any("1 compared      1 unequal" in line for line in account.lines())


def test_a_difference_that_only_importing_shows_is_unequal() -> None:
    account = Account()
    before = table(add=FLOATS)
    compare_differences(before, imported(add=FLOATS), before, imported(add=frozenset(), mul=FLOATS), account)
    assert set(account.unequal) == {"entries that came", "whether dtypes are others"}
