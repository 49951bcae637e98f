"""The grey band as it is put to a model: tests one by one where they are few, else whole classes or files of them.

A change of a common function ties thousands of tests to itself. A question holds some hundred things to judge, so the
more tests there are, the coarser they are asked about; what a group is told counts for each of its tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from selector.types import BaseTest, Candidate

#: Things to judge in one question; the rest of the band is ranked offline.
OFFER_CAP = 120


@dataclass(frozen=True, slots=True)
class Group:
    """Candidates that are judged together, at least one."""

    name: str
    candidates: tuple[Candidate, ...]

    @property
    def label(self) -> str:
        """The name, and how many tests it stands for when these are several."""
        count = len(self.candidates)
        return self.name if count == 1 else f"{self.name} ({count} tests)"


def grouped(band: Sequence[Candidate], joined: Mapping[BaseTest, float], threshold: float) -> tuple[Group, ...]:
    """The groups to ask about, the likeliest first: the finest there are not too many of. Of too many files those go
    first that `threshold` would leave tests out of, the likeliest to break among them first."""
    groups: list[Group] = []
    for name_of in (str, _class_of, _file_of):
        groups = _by(band, name_of)
        if len(groups) <= OFFER_CAP:
            break

    def open_and_likely(group: Group) -> tuple[bool, float, float, str]:
        undecided = any(joined[it.test] < threshold for it in group.candidates)
        return not undecided, -max(it.probability for it in group.candidates), -best(group), group.name

    def best(group: Group) -> float:
        return max(joined[it.test] for it in group.candidates)

    asked = sorted(groups, key=open_and_likely)[:OFFER_CAP]
    return tuple(sorted(asked, key=lambda group: (-best(group), group.name)))


def _by(band: Sequence[Candidate], name_of: Callable[[BaseTest], str]) -> list[Group]:
    found: dict[str, list[Candidate]] = {}
    for candidate in band:
        found.setdefault(name_of(candidate.test), []).append(candidate)
    return [
        Group(str(members[0].test) if len(members) == 1 else name, tuple(members)) for name, members in found.items()
    ]


def _class_of(test: BaseTest) -> str:
    return f"{test.file}::{test.cls}" if test.cls else test.file


def _file_of(test: BaseTest) -> str:
    return test.file
