"""Whether the operators that are read off the text are those that importing gives, for two releases of torch.

`python -m tests.benchmarks.bench_upgrade_operators BASE HEAD`: each is the folders of an environment, as in
`PYTHONPATH`, of which the first has torch installed; BASE alone compares one release, and `installed` is the one of
this environment. A release that needs the libraries of an accelerator is imported with a folder that has them.

Compared are entry by entry the class, the dtypes of values and gradients for a device out of the tree, the number of
decorators and for which tests each is; the lists that tests are generated from; and, of two releases, which entries
came and went, which have other dtypes, and that each whose decorators are for other tests or devices is told. What the
text does not tell is listed. With `--samples` the inputs of each entry are made by both releases, and each that makes
others must be told. Prints a line for each thing compared, and what is unequal. Exit code 1 when anything is.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from selector.change.wheels import InstalledWheel
from selector.upgrade.operators.differences import compare_tables
from selector.upgrade.operators.reading import read_operators
from selector.upgrade.operators.table import OperatorEntry, OperatorTable
from selector.upgrade.types import OpInfoAspect, OpInfoChange, TestChange
from tests.benchmarks.imported_operators import Imported, ImportedEntry, read_imported

_SHOWN = 20
_ABOUT_INPUTS = (OpInfoAspect.SAMPLES, OpInfoAspect.DTYPES, OpInfoAspect.OTHER)


@dataclass(slots=True)
class Account:
    """What was compared: by its words, how many were, and those that are unequal."""

    compared: Counter[str] = field(default_factory=Counter)
    unequal: dict[str, list[str]] = field(default_factory=dict)

    def count(self, words: str, subject: str, text: object, imported: object) -> None:
        """One thing, as the text and as importing has it."""
        self.compared[words] += 1
        if text != imported:
            self.unequal.setdefault(words, []).append(f"{subject}: text {text!r:.200}, imported {imported!r:.200}")

    def lines(self) -> Iterator[str]:
        """One for each kind of thing, then the first that are unequal."""
        for words, count in self.compared.items():
            yield f"{words:44}{count:>7} compared{len(self.unequal.get(words, ())):>7} unequal"
        for words, found in self.unequal.items():
            yield from (f"  {words}: {line}" for line in found[:_SHOWN])


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base")
    parser.add_argument("head", nargs="?")
    parser.add_argument("--samples", action="store_true", help="make the inputs as well: a minute more a release")
    wanted = parser.parse_args()
    account = Account()
    environments = [environment for environment in (wanted.base, wanted.head) if environment]
    sides = [_side(environment, account, samples=wanted.samples) for environment in environments]
    if len(sides) == 2:
        compare_differences(*sides[0], *sides[1], account)
    print("\n".join(account.lines()))
    return 1 if account.unequal else 0


def compare_one(table: OperatorTable, imported: Imported, account: Account) -> None:
    """The entries and lists of one release."""
    version = imported.version
    account.count(f"{version} names", "entries", sorted(table.entries), sorted(imported.entries))
    for name in table.entries.keys() & imported.entries.keys():
        text, known = table.entries[name], imported.entries[name]
        account.count(f"{version} classes", name, text.kind, known.kind)
        account.count(f"{version} dtypes", name, _sorted(text.dtypes), sorted(known.dtypes))
        account.count(
            f"{version} dtypes of gradients", name, _sorted(text.backward_dtypes), sorted(known.backward_dtypes)
        )
        account.count(f"{version} numbers of decorators", name, len(text.decorators), len(known.decorators))
        account.count(
            f"{version} tests of decorators", name, _tests(text), Counter(test for test, _ in known.decorators)
        )
    for name in table.lists.keys() & imported.lists.keys():
        account.count(f"{version} lists", name, table.lists[name], imported.lists[name])
    for name in sorted(imported.lists.keys() - table.lists.keys()):
        print(f"{version}: {name}, {len(imported.lists[name])} entries, is a list that the text does not tell")


def compare_differences(
    before: OperatorTable, imported_before: Imported, after: OperatorTable, imported_after: Imported, account: Account
) -> None:
    """What differs between two releases."""
    found = {change.name: change for change in compare_tables(before, after).changes}
    old, new = imported_before.entries, imported_after.entries
    came = [name for name, change in found.items() if change.change is TestChange.ADDED]
    went = [name for name, change in found.items() if change.change is TestChange.REMOVED]
    account.count("entries that came", "names", came, sorted(new.keys() - old.keys()))
    account.count("entries that went", "names", went, sorted(old.keys() - new.keys()))
    for name in sorted(old.keys() & new.keys()):
        change = found.get(name)
        other = old[name].dtypes != new[name].dtypes or old[name].backward_dtypes != new[name].backward_dtypes
        account.count("whether dtypes are others", name, _has(change, OpInfoAspect.DTYPES), other)
        if _on_devices(old[name]) != _on_devices(new[name]):
            account.count("decorators that are others", name, change is not None, True)
        if old[name].samples != new[name].samples:
            told = any(_has(change, aspect) for aspect in _ABOUT_INPUTS)
            account.count("inputs that are others", name, told, True)
    aspects = Counter(aspect.value for change in found.values() for aspect in change.aspects)
    print(f"differences: {len(came)} came ({', '.join(came)}), {len(went)} went ({', '.join(went)})")
    print(
        f"of {len(found) - len(came) - len(went)} others: {', '.join(f'{n} {a}' for a, n in sorted(aspects.items()))}"
    )


def _side(environment: str, account: Account, *, samples: bool) -> tuple[OperatorTable, Imported]:
    spec = importlib.util.find_spec("torch")
    installed = Path(spec.origin).parents[1] if spec is not None and spec.origin else Path()
    root = installed if environment == "installed" else Path(environment.split(os.pathsep, maxsplit=1)[0])
    start = time.process_time()
    table = read_operators(InstalledWheel(root))
    seconds = time.process_time() - start
    try:
        imported = read_imported("" if environment == "installed" else environment, samples=samples)
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"torch in {environment} cannot be imported: {error.stderr[-500:]}") from error
    print(f"{imported.version}: {len(table.entries)} entries read in {seconds:.1f} s of processor time")
    for note in table.notes:
        print(f"{imported.version}: not told by the text: {note}")
    compare_one(table, imported, account)
    return table, imported


def _has(change: OpInfoChange | None, aspect: OpInfoAspect) -> bool:
    return change is not None and aspect in change.aspects


def _tests(entry: OperatorEntry) -> Counter[str]:
    return Counter(one.test for one in entry.decorators)


def _on_devices(entry: ImportedEntry) -> Counter[tuple[str, tuple[str, ...]]]:
    return Counter(entry.decorators)


def _sorted(names: frozenset[str] | None) -> list[str] | None:
    return None if names is None else sorted(names)


if __name__ == "__main__":
    sys.exit(main())
