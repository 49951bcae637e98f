"""A trap, and one test's case as those who look for traps see it. Looks for none itself."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from selector.manifests.resolution import Trace, TraceCandidate
from selector.manifests.rules import EntryName, EntryRules, FileRules
from selector.types import CollectedTest


class TrapKind(StrEnum):
    """What surprises, in the order in which it is told."""

    FILE_NOT_LISTED = "file_not_listed"
    FUNCTION_NOT_GOVERNED = "function_not_governed"
    CLASS_IGNORED = "class_ignored"
    HIDDEN_ENTRY = "hidden_entry"
    EXACT_BEFORE_PATTERN = "exact_before_pattern"
    GENERATED_NAME = "generated_name"
    GLOB_PATTERN = "glob_pattern"
    DTYPE_FROM_NAME = "dtype_from_name"
    FLOAT8_INVISIBLE = "float8_invisible"
    DOTTED_OPERATOR = "dotted_operator"
    EXCLUDED_BY_PREFIX = "excluded_by_prefix"
    ALLOW_LIST_NOT_APPLIED = "allow_list_not_applied"
    LABEL_MISMATCH = "label_mismatch"
    UNLISTED = "unlisted"
    FORCE_XFAIL_WITHOUT_EFFECT = "force_xfail_without_effect"


@dataclass(frozen=True, slots=True)
class Trap:
    """One surprise. `provenance` is the `manifest.yaml:line` that a maintainer has to look at."""

    kind: TrapKind
    provenance: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Case:
    """A test with what is said about its file and how the framework came to its answer. `siblings` are the collected
    variants of its base test, itself included."""

    test: CollectedTest
    rules: FileRules
    compat: Trace
    siblings: tuple[CollectedTest, ...]
    device: str
    test_type: str

    @property
    def name(self) -> str:
        return "::".join(part for part in (self.test.cls, self.test.base) if part)

    @property
    def entry(self) -> EntryRules | None:
        """The entry that was chosen."""
        chosen = self.compat.chosen
        return next(
            (one for one in self.rules.candidates(self.test.base) if chosen and one.index == chosen.entry), None
        )

    def written(self, candidate: TraceCandidate) -> EntryName:
        """The compiled name behind a candidate."""
        names = self.rules.matches(self.test.base)
        return next(name for name in names if name.entry.index == candidate.entry and name.text == candidate.name)
