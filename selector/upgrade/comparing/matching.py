"""Which test of the newer tree a test of the older one became.

Most keep file, class and name. Of the others a test *moved* when one of the same name came elsewhere, and was *renamed*
when one of another name came to its class, if they are written alike enough. Every test is used once, and the likest
first, so the answer does not depend on any order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from selector.types import BaseTest
from selector.upgrade.comparing.resemblance import Resemblance, alike_names
from selector.upgrade.comparing.written import Release, WrittenTest

#: What a move needs of likeness, of the share of its class that came with it, and of the class's name together.
_MOVED = 0.55
_COMPANY = 0.4
_SAME_CLASS = 0.3
_SAME_FILE = 0.1
#: A rename needs this likeness; within a class the lower one will do where the names have this in common.
_RENAMED = 0.8
_RENAMED_LIKE_NAME = 0.5
_LIKE_NAME = 0.5
_CLASS = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Match:
    """A test before and after, and how sure it is that they are one (0 to 1)."""

    before: WrittenTest
    after: WrittenTest
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Matches:
    """All tests of both trees."""

    pairs: tuple[Match, ...]
    removed: tuple[WrittenTest, ...]
    added: tuple[WrittenTest, ...]


def match_tests(base: Release, head: Release) -> Matches:
    """Match the tests of two trees."""
    pairs = [Match(base.tests[test], after) for test, after in head.tests.items() if test in base.tests]
    matching = _Matching(base, head)
    pairs += matching.moved()
    pairs += matching.renamed()
    return Matches(tuple(pairs), tuple(matching.gone.values()), tuple(matching.came.values()))


class _Matching:
    """The tests that only one tree has; those that are matched leave."""

    def __init__(self, base: Release, head: Release) -> None:
        self.gone = {test: written for test, written in base.tests.items() if test not in head.tests and test.name}
        self.came = {test: written for test, written in head.tests.items() if test not in base.tests and test.name}
        self._likeness = Resemblance(base.tree, head.tree)
        self._classes: dict[_CLASS, _CLASS] = {}

    def moved(self) -> list[Match]:
        """Tests of which one of the same name came elsewhere."""
        by_name = defaultdict[str, list[WrittenTest]](list)
        for after in self.came.values():
            by_name[after.test.name].append(after)
        company = self._company(by_name)
        candidates = [
            (self._move_score(before, after, company), before, after)
            for before in self.gone.values()
            for after in by_name.get(before.test.name, ())
        ]
        matches = self._taken(candidates, _MOVED)
        votes = Counter((_class_of(match.before.test), _class_of(match.after.test)) for match in matches)
        for (old, new), _ in sorted(votes.items(), key=lambda vote: (vote[1], vote[0])):
            self._classes[old] = new
        return matches

    def renamed(self) -> list[Match]:
        """Tests of which one of another name came to the same class, or to the one that the class became."""
        gone, came = _by_class(self.gone), _by_class(self.came)
        candidates: list[tuple[float, WrittenTest, WrittenTest]] = []
        for cls, tests in gone.items():
            for other in dict.fromkeys((cls, self._classes.get(cls, cls))):
                if other in came:
                    candidates += self._renames(tests, came[other], stays=cls == other)
        return self._taken(candidates, 0.0)

    def _company(self, by_name: Mapping[str, list[WrittenTest]]) -> Mapping[tuple[_CLASS, _CLASS], float]:
        """For two classes the share of what left the one that came to the other by its name. A test is no company to
        itself."""
        left = Counter(_class_of(test) for test in self.gone)
        shared = Counter(
            (_class_of(test), _class_of(after.test)) for test in self.gone for after in by_name.get(test.name, ())
        )
        return {classes: (count - 1) / max(left[classes[0]] - 1, 1) for classes, count in shared.items()}

    def _move_score(
        self, before: WrittenTest, after: WrittenTest, company: Mapping[tuple[_CLASS, _CLASS], float]
    ) -> float:
        old, new = before.test, after.test
        score = self._likeness.of(before, after) * (1 - _COMPANY) + _COMPANY * company[_class_of(old), _class_of(new)]
        return score + _SAME_CLASS * (old.cls == new.cls) + _SAME_FILE * (old.file == new.file)

    def _renames(
        self, gone: list[WrittenTest], came: list[WrittenTest], *, stays: bool
    ) -> Iterator[tuple[float, WrittenTest, WrittenTest]]:
        for before, after in self._likeness.nearest(gone, came):
            like = self._likeness.of(before, after)
            names = alike_names(before.test.name, after.test.name)
            if like >= _RENAMED or (stays and like >= _RENAMED_LIKE_NAME and names >= _LIKE_NAME):
                yield 0.8 * like + 0.2 * names, before, after

    def _taken(self, candidates: Iterable[tuple[float, WrittenTest, WrittenTest]], least: float) -> list[Match]:
        """The best of the candidates, each test once."""
        matches = []
        ordered = sorted(candidates, key=lambda one: (-one[0], one[1].test, one[2].test))
        for score, before, after in ordered:
            if score >= least and before.test in self.gone and after.test in self.came:
                del self.gone[before.test], self.came[after.test]
                matches.append(Match(before, after, round(min(score, 1.0), 2)))
        return matches


def _class_of(test: BaseTest) -> _CLASS:
    return test.file, test.cls


def _by_class(tests: Mapping[BaseTest, WrittenTest]) -> Mapping[_CLASS, list[WrittenTest]]:
    found = defaultdict[_CLASS, list[WrittenTest]](list)
    for test, written in tests.items():
        found[_class_of(test)].append(written)
    return found
