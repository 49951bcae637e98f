"""What the manifests say about a base test, before and after an upgrade.

Class names are not compared, as in the framework whose manifests these are (`oot-manifests.md` 2.2). Knows nothing of
what changed; what follows from both is decided in `duties.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from selector.manifests import ManifestSet
from selector.manifests.rules import EntryName, FileRules
from selector.types import BaseTest, Mode
from selector.upgrade.types import ChangedTest

#: Modes that another outcome breaks. The others take any outcome, or none.
BINDING = frozenset({Mode.MANDATORY_SUCCESS, Mode.XFAIL_STRICT})
#: From this confidence a test is taken to be another one's successor without asking. Below it a person compares them.
CERTAIN = 0.8


@dataclass(frozen=True, slots=True)
class Ruling:
    """The names that govern one base test, one for each entry, in order of precedence. `rules` None: no manifest lists
    its file, or there are no manifests at all (`is_assumed`), and then every test counts as required."""

    rules: FileRules | None
    names: tuple[EntryName, ...] = ()
    is_assumed: bool = False

    @property
    def is_listed(self) -> bool:
        """Whether anything is said about the test's file."""
        return self.rules is not None or self.is_assumed

    @property
    def modes(self) -> tuple[Mode, ...]:
        """What is asked of its variants: by its entries, else as an unlisted test of its file."""
        if self.names:
            return tuple(name.entry.mode for name in self.names)
        if self.rules is not None:
            return (self.rules.unlisted,)
        return (Mode.MANDATORY_SUCCESS,) if self.is_assumed else ()

    @property
    def is_binding(self) -> bool:
        """Whether some variant is held to an outcome."""
        return not BINDING.isdisjoint(self.modes)

    @property
    def runs(self) -> bool:
        """Whether some variant may be run."""
        return any(mode is not Mode.SKIP for mode in self.modes)

    @property
    def said(self) -> str:
        """The entries and their modes, for people; nothing without manifests."""
        if self.names:
            return ", ".join(f"{name.entry.provenance}: {name.entry.mode}" for name in self.names)
        return f"{self.rules.provenance}: unlisted tests are {self.rules.unlisted}" if self.rules else ""


class Governing:
    """Rulings of a set of manifests."""

    def __init__(self, manifests: ManifestSet | None) -> None:
        self._manifests = manifests

    def ruling(self, test: BaseTest) -> Ruling:
        """What holds for a test by its name in one of the trees."""
        if self._manifests is None:
            return Ruling(None, is_assumed=True)
        rules = self._manifests.rules(test.file)
        if rules is None or test.is_rest_of_file:
            return Ruling(rules)
        first: dict[str, EntryName] = {}
        for name in rules.matches(test.name):
            first.setdefault(name.entry.provenance, name)
        return Ruling(rules, tuple(first.values()))

    def ruling_of(self, changed: ChangedTest) -> Ruling:
        """What holds for a test by the name that it had; by the one it has now where no entry named it before."""
        before = self.ruling(changed.former or changed.test)
        return before if before.names else self.ruling(changed.test)

    def names(self) -> frozenset[tuple[str, str]]:
        """Every name that the manifests list about upstream files, with the place of its entry: what there is to assess
        in all."""
        return frozenset((name.entry.provenance, name.text) for name in self._names())

    def _names(self) -> Iterator[EntryName]:
        for rules in self._manifests.upstream.values() if self._manifests is not None else ():
            for exact in rules.exact.values():
                yield from exact
            yield from rules.patterns
