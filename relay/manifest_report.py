"""What people should know about the manifests: what is loaded, what is odd in the folder, which excuses run out, and
which tests have long passed although they are excused.

Reads files and values; asks no record and changes nothing. The rules themselves are the selector's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from pathlib import Path

from relay.manifest_views import (
    ExpiringEntry,
    ManifestBlock,
    ManifestFinding,
    PromotionProposal,
    Promotions,
    WaitingPromotion,
)
from relay.manifests import LoadedManifests, ManifestFolderError, manifest_files, read_manifest
from relay.runs.excused import ExcusedAttempt
from selector.manifests import ManifestDocument, ManifestSet, load_manifests
from selector.manifests.authoring.promotion import Held, Proposal, propose
from selector.manifests.authoring.results import Observation, ObservedTest
from selector.manifests.authoring.streaks import Policy
from selector.manifests.findings import Finding
from selector.manifests.lint import RULES, lint
from selector.manifests.models import is_model_file
from selector.manifests.rules import EntryRules, FileRules
from selector.types import CollectedTest

#: Names of an entry that are shown; one entry may list hundreds.
_NAMES_SHOWN = 5


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """The manifests in use as blocks and excuses, and the findings in the files of the folder."""

    manifests: tuple[str, ...]
    blocks: tuple[ManifestBlock, ...]
    findings: tuple[ManifestFinding, ...]
    expiring: tuple[ExpiringEntry, ...]


def report_on(in_use: LoadedManifests, folder: Path, today: date) -> ManifestReport:
    """The report of a day. `expiring` has every entry with a day, the nearest first."""
    documents = _in_use(in_use)
    manifests = _loaded(documents)
    models = [model.rules for model in manifests.models.values()]
    blocks = sorted((*manifests.upstream.values(), *manifests.device_files, *models), key=_by_place)
    upstream = {id(rules): file for file, rules in manifests.upstream.items()}
    return ManifestReport(
        manifests=tuple(document.name for document in documents),
        blocks=tuple(_block(rules, upstream.get(id(rules))) for rules in blocks),
        findings=_found(_in_folder(folder), today),
        expiring=tuple(sorted(_expiring(blocks, today), key=lambda entry: (entry.expires, entry.place))),
    )


def promotions(in_use: LoadedManifests, attempts: Sequence[ExcusedAttempt], device: str) -> Promotions:
    """What could be required, and what waits, by the policy of `relay manifest promote`."""
    observed = [_observed(one) for one in attempts]
    made, held = propose(observed, _loaded(_in_use(in_use)), device=device, policy=Policy())
    return Promotions(
        proposals=tuple(_proposal(one) for one in made),
        waiting=tuple(_waiting(one) for one in held),
        from_runs=tuple(sorted({one.run_id for one in attempts}, reverse=True)),
    )


def _in_use(in_use: LoadedManifests) -> tuple[ManifestDocument, ...]:
    return tuple(ManifestDocument(one.name, one.text) for one in in_use.texts)


def _in_folder(folder: Path) -> tuple[ManifestDocument, ...]:
    """What lies in the folder now; nothing when it can not be read, which every page says already."""
    try:
        return tuple(read_manifest(path, path.relative_to(folder).as_posix()) for path in manifest_files(folder))
    except ManifestFolderError:
        return ()


# Both are the same as long as nobody edits a manifest, and take a second for large ones.
@lru_cache(maxsize=2)
def _loaded(documents: tuple[ManifestDocument, ...]) -> ManifestSet:
    return load_manifests(documents)


@lru_cache(maxsize=2)
def _found(documents: tuple[ManifestDocument, ...], today: date) -> tuple[ManifestFinding, ...]:
    return tuple(_finding(one) for one in lint(documents, today=today))


def _finding(one: Finding) -> ManifestFinding:
    rule = RULES.get(one.rule)
    return ManifestFinding(
        file=one.file,
        line=one.line,
        column=one.column,
        severity=one.severity,
        rule=one.rule,
        message=one.message,
        how=rule.how if rule else "",
    )


def _block(rules: FileRules, upstream: str | None) -> ManifestBlock:
    named = _named(rules)
    return ManifestBlock(
        place=rules.provenance,
        file=upstream or rules.path,
        upstream=upstream is not None,
        model=is_model_file(rules.path),
        unlisted=rules.unlisted,
        entries=len(named),
        names=sum(len(names) for names in named.values()),
        modes=dict(sorted(Counter(entry.mode.value for entry in named).items())),
    )


def _named(rules: FileRules) -> dict[EntryRules, list[str]]:
    """The entries of a block in their order, each with its names."""
    exact = (name for names in rules.exact.values() for name in names)
    found: dict[EntryRules, list[str]] = {}
    for name in sorted((*exact, *rules.patterns), key=lambda name: name.entry.index):
        found.setdefault(name.entry, []).append(name.text)
    return found


def _expiring(blocks: Iterable[FileRules], today: date) -> Iterable[ExpiringEntry]:
    for rules in blocks:
        for entry, names in _named(rules).items():
            remarks = entry.remarks
            if remarks.expires is not None:
                yield ExpiringEntry(
                    place=entry.provenance,
                    mode=entry.mode,
                    names=tuple(names[:_NAMES_SHOWN]),
                    expires=remarks.expires,
                    days_left=(remarks.expires - today).days,
                    reason=remarks.reason,
                    issue=remarks.issue,
                    owner=remarks.owner,
                )


def _by_place(rules: FileRules) -> tuple[str, int]:
    name, _, line = rules.provenance.rpartition(":")
    return name, int(line)


def _observed(one: ExcusedAttempt) -> ObservedTest:
    """The class and the method as the source has them, from the base test's name."""
    _, _, written = one.base.partition("::")
    cls, _, base = written.rpartition("::")
    method = one.test_id.rpartition("::")[2]
    test = CollectedTest(one.test_id, one.file, cls.rpartition("::")[2], base or written, method)
    return ObservedTest(test, Observation(one.observation.value), f"run {one.run_id}", one.at, one.machine)


def _proposal(one: Proposal) -> PromotionProposal:
    shown = one.evidence
    return PromotionProposal(
        place=one.provenance,
        file=one.file,
        base=one.base,
        variants=shown.variants,
        runs=shown.runs,
        days=shown.days,
        machines=shown.machines,
        first=shown.first,
        last=shown.last,
    )


def _waiting(one: Held) -> WaitingPromotion:
    return WaitingPromotion(place=one.provenance, file=one.file, base=one.base, why=one.why)
