"""Proposes to require what has kept working although it is expected to fail, and to excuse what has kept failing
although it is required (`oot-manifests.md` 7.2, `promote`).

An edit is tried before it is proposed: the changed manifest has to mean what the proposal says, and for every other
test that was observed the same as before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from selector.manifests.authoring.extension import extend
from selector.manifests.authoring.requiring import require
from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.authoring.splicing import SpliceError
from selector.manifests.authoring.streaks import Evidence, Policy, Run, Streak, evidence, failing, passing, runs_by_test
from selector.manifests.document import ManifestDocument
from selector.manifests.findings import ManifestError
from selector.manifests.load import ManifestSet, load_manifests
from selector.manifests.models import is_model_file
from selector.manifests.profiles import Profile
from selector.manifests.resolution import Resolution, resolve
from selector.types import CollectedTest, Mode

_EXPECTED_TO_FAIL = frozenset({Mode.XFAIL, Mode.XFAIL_STRICT})


class Direction(StrEnum):
    """Whether a test is to be required or excused."""

    PROMOTE = "promote"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A base test of a file whose expectation should change. `provenance` is the place that holds now; `entry` its
    entry in the file block, None for an unlisted test. `ids` are the tests that the evidence is about.
    """

    direction: Direction
    file: str
    base: str
    provenance: str
    entry: int | None
    ids: tuple[str, ...]
    evidence: Evidence

    @property
    def manifest(self) -> str:
        return self.provenance.rpartition(":")[0]

    def __str__(self) -> str:
        verb = "require" if self.direction is Direction.PROMOTE else "expect a failure of"
        done = "passed" if self.direction is Direction.PROMOTE else "failed"
        return f"{self.provenance}: {verb} {self.base}, which {done}: {self.evidence}"


@dataclass(frozen=True, slots=True)
class Held:
    """A base test that is not proposed although it works now, and why."""

    file: str
    base: str
    provenance: str
    why: str

    def __str__(self) -> str:
        return f"{self.provenance}: {self.base} waits: {self.why}"


@dataclass(frozen=True, slots=True)
class Rewritten:
    """A manifest with the proposals that could be written into it, and what could not."""

    document: ManifestDocument
    made: tuple[Proposal, ...]
    refused: tuple[Held, ...]
    notes: tuple[str, ...] = ()


def propose(
    observed: Sequence[ObservedTest], manifests: ManifestSet, *, device: str, policy: Policy, demote: bool = False
) -> tuple[tuple[Proposal, ...], tuple[Held, ...]]:
    """Proposals for promotion, with `demote` also for demotion, and what is held back, by file and base test."""
    rows = _rows(manifests, observed, device)
    runs = runs_by_test(observed)
    tests = {one.id: one.test for one in observed if one.id in runs and one.id in rows}
    found: list[Proposal | Held] = []
    for group, row in _groups(tests.values(), rows):
        streaks = {test.id: runs[test.id] for test in group}
        if row.mode in _EXPECTED_TO_FAIL and row.rule == "listed":
            found += _promotion(group[0], row, streaks, policy)
        elif row.mode is Mode.MANDATORY_SUCCESS and demote:
            found += _demotion(group[0], row, streaks, policy)
    made = tuple(one for one in found if isinstance(one, Proposal))
    return made, tuple(one for one in found if isinstance(one, Held))


def _rows(manifests: ManifestSet, observed: Iterable[ObservedTest], device: str) -> Mapping[str, Resolution]:
    # What is expected of a whole model stands with the model, in no list that could be edited here.
    tests = {one.id: one.test for one in observed if not is_model_file(one.file) and manifests.rules(one.file)}
    return resolve(manifests, list(tests.values()), profile=Profile.COMPAT, device=device).by_id


def _groups(
    tests: Iterable[CollectedTest], rows: Mapping[str, Resolution]
) -> Iterator[tuple[list[CollectedTest], Resolution]]:
    """Variants of one base test for which the same place says the same."""

    def key(test: CollectedTest) -> tuple[str, str, str, str, str]:
        row = rows[test.id]
        return test.file, test.base, row.provenance, row.mode, row.rule

    for _, group in groupby(sorted(tests, key=lambda test: (*key(test), test.id)), key=key):
        found = list(group)
        yield found, rows[found[0].id]


def _promotion(
    test: CollectedTest, row: Resolution, runs: Mapping[str, Sequence[Run]], policy: Policy
) -> Iterator[Proposal | Held]:
    streaks = {test_id: passing(found) for test_id, found in runs.items()}
    lacking = {test_id: why for test_id, streak in streaks.items() if (why := streak.lacks(policy))}
    if not lacking:
        yield _proposal(Direction.PROMOTE, test, row, streaks)
    elif all(streak.runs for streak in streaks.values()):
        weakest = min(lacking, key=lambda test_id: (len(streaks[test_id].runs), test_id))
        yield Held(test.file, test.base, row.provenance, f"{lacking[weakest]} of {weakest.rpartition('::')[2]}")
    elif len(lacking) < len(streaks):
        failed = sum(not streak.runs for streak in streaks.values())
        yield Held(test.file, test.base, row.provenance, f"{failed} of its {len(streaks)} variants still failed")


def _demotion(
    test: CollectedTest, row: Resolution, runs: Mapping[str, Sequence[Run]], policy: Policy
) -> Iterator[Proposal | Held]:
    streaks = {test_id: failing(found) for test_id, found in runs.items()}
    long = {test_id: streak for test_id, streak in streaks.items() if len(streak.runs) >= policy.failures}
    if long:
        yield _proposal(Direction.DEMOTE, test, row, long)


def _proposal(direction: Direction, test: CollectedTest, row: Resolution, streaks: Mapping[str, Streak]) -> Proposal:
    shown = evidence(list(streaks.values()))
    return Proposal(direction, test.file, test.base, row.provenance, row.entry, tuple(sorted(streaks)), shown)


def rewrite(
    document: ManifestDocument,
    proposals: Iterable[Proposal],
    observed: Sequence[ObservedTest],
    *,
    device: str,
    issue: str = "",
) -> Rewritten:
    """One manifest with the proposals that concern it; `issue` is written into what is demoted.

    Raises ManifestError when the manifest does not load.
    """
    mine = [one for one in proposals if one.manifest == document.name]
    refused: list[Held] = []
    promoted = [one for one in mine if one.direction is Direction.PROMOTE]
    kept: list[Proposal] = []
    for one in promoted:
        if why := _problem(document, [one], observed, device):
            refused.append(Held(one.file, one.base, one.provenance, why))
        else:
            kept.append(one)
    after = ManifestDocument(document.name, _required(document, kept)) if kept else document
    demoted = [one for one in mine if one.direction is Direction.DEMOTE]
    if not demoted:
        return Rewritten(after, tuple(kept), tuple(refused))
    try:
        extended = extend(after, _against(demoted, observed), device=device, issue=issue)
    except SpliceError as error:
        refused += [Held(one.file, one.base, one.provenance, str(error)) for one in demoted]
        return Rewritten(after, tuple(kept), tuple(refused))
    changed = ManifestDocument(document.name, extended.text)
    rows = _rows(load_manifests([changed]), observed, device)
    for one in demoted:
        if any(rows[test_id].mode is Mode.MANDATORY_SUCCESS for test_id in one.ids):
            refused.append(Held(one.file, one.base, one.provenance, "it still fails and its entry needs a person"))
        else:
            kept.append(one)
    return Rewritten(changed, tuple(kept), tuple(refused), extended.notes)


def _required(document: ManifestDocument, proposals: Sequence[Proposal]) -> str:
    return require(document, [(one.file, one.entry or 0, one.base) for one in proposals])


def _problem(
    document: ManifestDocument, proposals: Sequence[Proposal], observed: Sequence[ObservedTest], device: str
) -> str:
    """Why these promotions can not be written; empty when they can."""
    try:
        changed = load_manifests([ManifestDocument(document.name, _required(document, proposals))])
    except SpliceError as error:
        return str(error)
    except ManifestError as error:
        return f"the manifest would not load: {error}"
    before = _rows(load_manifests([document]), observed, device)
    after = _rows(changed, observed, device)
    wanted = {test_id for one in proposals for test_id in one.ids}
    others = [
        test_id for test_id in before if test_id not in wanted and after[test_id].mode is not before[test_id].mode
    ]
    if others:
        return f"the edit would change {others[0].rpartition('::')[2]} too"
    if any(after[test_id].mode is not Mode.MANDATORY_SUCCESS for test_id in wanted):
        return "no edit of this entry makes it required"
    return ""


def _against(proposals: Sequence[Proposal], observed: Iterable[ObservedTest]) -> Iterator[ObservedTest]:
    """What speaks for a demotion. Failures of other variants do not, as they were not lasting."""
    lasting = {test_id for one in proposals for test_id in one.ids}
    bases = {(one.file, one.base) for one in proposals}
    for one in observed:
        if one.id in lasting or ((one.file, one.base) in bases and one.observation is Observation.PASSED):
            yield one
