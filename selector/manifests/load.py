"""Loads manifests as a set: all of them or none, with every finding of every one of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from selector.manifests.check import check
from selector.manifests.document import ManifestDocument, Placed, read_document
from selector.manifests.expiry import expired
from selector.manifests.findings import Finding, ManifestError, Severity
from selector.manifests.model_rules import MODELS, ModelRules, model_rules
from selector.manifests.oddities import FILES
from selector.manifests.profiles import Profile
from selector.manifests.rules import FileRules, device_rules, file_rules
from selector.manifests.schema import Manifest
from selector.manifests.strictness import strictly
from selector.manifests.upstream import file_key, upstream_file


@dataclass(frozen=True, slots=True)
class ManifestSet:
    """Loaded manifests. `digest` is a SHA-256 over names and texts; `findings` are warnings, in order of place.

    `device_files` are blocks about files of the device's own repository: accepted, and of no use upstream. `own` holds
    the first block about each of them, by its path as written, made normal. `models` are whole models, by what stands
    for a file in the ids of their tests (`models/granite`).
    """

    digest: str
    findings: tuple[Finding, ...]
    upstream: Mapping[str, FileRules] = field(repr=False)
    device_files: tuple[FileRules, ...] = field(repr=False)
    own: Mapping[str, FileRules] = field(repr=False)
    models: Mapping[str, ModelRules] = field(default_factory=dict, repr=False)

    def files(self) -> frozenset[str]:
        """Upstream test files that some manifest lists, relative to the upstream tree."""
        return frozenset(self.upstream)

    def rules(self, file: str) -> FileRules | None:
        """What is said about an upstream file (`test/test_x.py`), or about another one by its path as in a manifest
        (`${TORCH_DEVICE_ROOT}/tests/test_x.py`), or about the tests of a model (`models/granite`)."""
        if (model := self.models.get(file)) is not None:
            return model.rules
        return self.upstream.get(file) or self.own.get(file)


def load_manifests(
    documents: Sequence[ManifestDocument], *, profile: Profile = Profile.COMPAT, today: date | None = None
) -> ManifestSet:
    """Load manifests in the order of their names. The first block about a file counts, a later one is a warning.

    The strict profile refuses what the framework ignores. With a day, entries that expired before it are warnings.
    Raises ManifestError with all findings when at least one of them is an error.
    """
    ordered = sorted(documents, key=lambda document: document.name)
    gathering = _Gathering(profile, today)
    for document in ordered:
        gathering.take(document)
    if any(finding.severity is Severity.ERROR for finding in gathering.findings):
        raise ManifestError(gathering.findings)
    findings = tuple(sorted(gathering.findings))
    own, files = gathering.own, tuple(gathering.device_files)
    return ManifestSet(_digest(ordered), findings, gathering.upstream, files, own, gathering.models)


class _Gathering:
    """The set while it grows."""

    def __init__(self, profile: Profile, today: date | None) -> None:
        self._profile = profile
        self._today = today
        self.findings: list[Finding] = []
        self.upstream: dict[str, FileRules] = {}
        self.device_files: list[FileRules] = []
        self.own: dict[str, FileRules] = {}
        self.models: dict[str, ModelRules] = {}
        self._names: set[str] = set()

    def take(self, document: ManifestDocument) -> None:
        placed, findings = read_document(document)
        self.findings += findings
        if document.name in self._names:
            self.findings.append(placed.finding(placed.place(()), "two manifests have this name"))
        self._names.add(document.name)
        if any(finding.severity is Severity.ERROR for finding in findings):
            return
        manifest, findings = check(placed)
        self.findings += strictly(placed, manifest, findings) if self._profile is Profile.STRICT else findings
        if manifest is not None:
            self._take_blocks(placed, manifest)
            self._take_models(placed, manifest)
            if self._today is not None:
                self.findings += expired(placed, manifest, self._today)

    def _take_blocks(self, placed: Placed, manifest: Manifest) -> None:
        device = device_rules(placed, manifest.test_suite_config.global_)
        for index, block in enumerate(manifest.test_suite_config.files):
            rules = file_rules(placed, index, block, device)
            file = upstream_file(block.path)
            if file is None:
                self.device_files.append(rules)
                self.own.setdefault(file_key(block.path), rules)
            elif (first := self.upstream.setdefault(file, rules)) is not rules:
                message = f"{file} is listed at {first.provenance} already, which counts; this block is ignored"
                place = placed.place((*FILES, index, "path"))
                self.findings.append(placed.finding(place, message, Severity.WARNING, "duplicate-path"))

    def _take_models(self, placed: Placed, manifest: Manifest) -> None:
        device = device_rules(placed, manifest.test_suite_config.global_)
        for index, spec in enumerate(manifest.test_suite_config.models):
            place = placed.place((*MODELS, index))
            rules = model_rules(f"{placed.name}:{place.line}", spec, device)
            if (first := self.models.setdefault(rules.check.file, rules)) is not rules:
                message = f"the model {spec.name} is at {first.provenance} already, which counts; this one is ignored"
                self.findings.append(placed.finding(place, message, Severity.WARNING, "duplicate-model"))


def _digest(documents: Sequence[ManifestDocument]) -> str:
    digest = hashlib.sha256()
    for document in documents:
        for part in (document.name.encode(), document.text.encode()):
            # The length keeps ("a", "bc") and ("ab", "c") apart.
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()
