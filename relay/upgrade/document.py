"""The JSON form of an upgrade report: what `relay upgrade --json` writes, and what a relay is sent and keeps.

Owns the form alone; `writing` and `reading` make it of a report and back. The document may have been written by
anybody: all of it is untrusted. Tests and evidence stand in lists of their own and others name their numbers in them:
most of the evidence is shared by hundreds of tests, and written out each time it would make a report ten times as
large. Within a `version` keys are only ever added; a reader does not know those of a later one, so it refuses it.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from relay.contract.texts import WHOLE
from selector.types import Mode
from selector.upgrade.types import Duty, OpInfoAspect, OutcomeKind, TestChange

#: Characters of a name, and of a sentence. What is longer is cut, both when a report is written and read.
NAME_CAP = 1_000
SENTENCE_CAP = 4_000
_TESTS_CAP = 200_000
_LIST_CAP = 50_000
_FEW = 1_000


def _carried(cap: int) -> BeforeValidator:
    """Text that every encoding and every database can carry: a tree has file names that are no text at all."""

    def cleaned(value: object) -> object:
        if not isinstance(value, str):
            return value
        text = value.encode("utf-8", "replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
        return text if len(text) <= cap else text[: cap - 1] + "…"

    return BeforeValidator(cleaned)


Name = Annotated[str, Field(max_length=NAME_CAP), _carried(NAME_CAP)]
Sentence = Annotated[str, Field(max_length=SENTENCE_CAP), _carried(SENTENCE_CAP)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1, strict=True)]
Notes = Annotated[tuple[Sentence, ...], Field(max_length=_FEW)]
Names = Annotated[tuple[Name, ...], Field(max_length=_FEW)]
Numbers = Annotated[tuple[Count, ...], Field(max_length=_FEW)]
Address = Annotated[str, StringConstraints(max_length=500, pattern=r"^(https?://[^\s<>\"'\\]+)?$")]
Commit = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})?$")]


class Part(BaseModel):
    """A part of the document: frozen, and strict about keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class TestPart(Part):
    """A base test. Without a class it is a function of the file, without a name the rest of the file."""

    __test__ = False
    file: Name
    cls: Name = ""
    name: Name = ""


class PlacePart(Part):
    """Lines of a file, from 1; `line` 0 is the file as a whole."""

    path: Name
    line: Count = 0
    end_line: Count = 0


class EvidencePart(Part):
    """One thing that speaks for a change, where it stands in each tree, and how a test comes to it."""

    kind: TestChange
    symbol: Name
    text: Sentence
    base: PlacePart | None = None
    head: PlacePart | None = None
    chain: Names = ()


class ChangedTestPart(TestPart):
    """A base test and what became of it, the strongest first; `evidence` are numbers in the document's list."""

    changes: Annotated[tuple[TestChange, ...], Field(min_length=1, max_length=len(TestChange))] = (
        TestChange.UNCHANGED,
    )
    evidence: Numbers = ()
    former: TestPart | None = None
    confidence: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0


class GovernedPart(Part):
    """What an entry of the manifests says about a test."""

    provenance: Name
    mode: Mode
    variants_before: Count | None = None
    variants_after: Count | None = None
    note: Sentence = ""


class FindingPart(Part):
    """What has to be done about a test, which is a number in the document's list."""

    test: Count
    duty: Duty
    reason: Sentence
    governed: Annotated[tuple[GovernedPart, ...], Field(max_length=_FEW)] = ()
    suggested: Mode | None = None
    cause: Name = ""


class FunnelPart(Part):
    """How many are left after a step, of what."""

    name: Name
    left: Count
    unit: Name
    summary: Sentence


class OperatorPart(Part):
    """An entry of upstream's database of operators that differs; `evidence` are numbers in the document's list."""

    name: Name
    change: TestChange
    aspects: Annotated[tuple[OpInfoAspect, ...], Field(max_length=len(OpInfoAspect))] = ()
    dtypes_before: Names = ()
    dtypes_after: Names = ()
    evidence: Numbers = ()


class OperatorsPart(Part):
    """All entries that differ, and how many there are on both sides."""

    before: Count
    after: Count
    changes: Annotated[tuple[OperatorPart, ...], Field(max_length=_LIST_CAP)] = ()
    notes: Notes = ()


class VariantPart(Part):
    """Generated tests that will appear for the device."""

    test: TestPart
    op: Name
    dtypes: Names = ()
    governed: GovernedPart | None = None


class OutcomePart(Part):
    """How one collected test ended on both releases."""

    id: Name
    test: TestPart
    kind: OutcomeKind
    before: Name
    after: Name
    reason: Sentence
    former: Name = ""
    detail: Sentence = ""


class OutcomesPart(Part):
    """How the results of both releases differ."""

    outcomes: Annotated[tuple[OutcomePart, ...], Field(max_length=_TESTS_CAP)] = ()
    same: Count = 0
    only_before: Count = 0
    only_after: Count = 0
    notes: Notes = ()


class SummaryPart(Part):
    """A paragraph by a model, to be shown as such."""

    area: Name
    text: Sentence
    model: Name


class OriginPart(Part):
    """Where both trees can be read on the web, at an address that a page may link to; empty for folders."""

    repository: Address = ""
    base_commit: Commit = ""
    head_commit: Commit = ""


class UpgradeDocument(Part):
    """A whole report. Every number of a test or of evidence is one in the lists; reading it sees to that."""

    format: Literal["oot-relay/upgrade-report"]
    version: Annotated[Literal[1], WHOLE]
    base: Name
    head: Name
    device: Name
    origin: OriginPart = OriginPart()
    seconds: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    files_before: Count
    files_after: Count
    funnel: Annotated[tuple[FunnelPart, ...], Field(max_length=_FEW)] = ()
    findings: Annotated[tuple[FindingPart, ...], Field(max_length=_TESTS_CAP)] = ()
    operators: OperatorsPart
    variants: Annotated[tuple[VariantPart, ...], Field(max_length=_LIST_CAP)] = ()
    outcomes: OutcomesPart | None = None
    summaries: Annotated[tuple[SummaryPart, ...], Field(max_length=_FEW)] = ()
    notes: Notes = ()
    difference_notes: Notes = ()
    tests: Annotated[tuple[ChangedTestPart, ...], Field(max_length=_TESTS_CAP)] = ()
    evidence: Annotated[tuple[EvidencePart, ...], Field(max_length=_TESTS_CAP)] = ()
