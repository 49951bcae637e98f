"""Stage 4 on base tests, before anything is collected: drops what the manifests keep from running for certain.

Only certainty drops here. What depends on a dtype, an operator or a tier is left to `plan.py`, which sees variants, and
so is what depends on the profile or the platform: an entry may turn out to be for another class or machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from selector.manifests.decision import NOT_IN_MANIFESTS
from selector.manifests.load import ManifestSet
from selector.manifests.rules import EntryName, FileRules
from selector.types import BaseTest, Candidate, Mode, Reason, Stage, StageResult


def admit(candidates: Sequence[Candidate], manifests: ManifestSet) -> StageResult:
    """Keep the candidates that may run, in their order; each gets a reason that names the manifest line."""
    kept: list[Candidate] = []
    dropped: list[Candidate] = []
    for candidate in candidates:
        runs, reason = _judge(candidate.test, manifests.rules(candidate.test.file))
        (kept if runs else dropped).append(candidate.because(reason))
    return StageResult(Stage.MANIFESTS, tuple(kept), tuple(dropped), _notes(dropped))


def _judge(test: BaseTest, rules: FileRules | None) -> tuple[bool, Reason]:
    if rules is None:
        return False, Reason(Stage.MANIFESTS, NOT_IN_MANIFESTS, f"{test.file} is not listed in any manifest")
    if test.is_rest_of_file:
        # Its tests have no names before they are collected, so nothing is certain about them.
        return True, Reason(Stage.MANIFESTS, "listed", f"{rules.provenance}: the file is listed")
    names = rules.matches(test.name)
    unlisted = f"{rules.provenance}: unlisted tests are {rules.unlisted}"
    if not names:
        return rules.unlisted is not Mode.SKIP, Reason(Stage.MANIFESTS, "unlisted", unlisted)
    entries = dict.fromkeys(name.entry for name in names)
    said = [f"{entry.provenance}: {entry.mode}" for entry in entries]
    runs = any(entry.mode is not Mode.SKIP for entry in entries)
    if not runs and rules.unlisted is not Mode.SKIP and not any(_is_certain(name, test) for name in names):
        runs = True
        said.append(unlisted)
    return runs, Reason(Stage.MANIFESTS, "listed", ", ".join(said))


def _is_certain(name: EntryName, test: BaseTest) -> bool:
    return name.is_for_class(test.cls) and not name.entry.platforms


def _notes(dropped: Sequence[Candidate]) -> tuple[str, ...]:
    outside = {candidate.test.file for candidate in dropped if candidate.reasons[-1].rule == NOT_IN_MANIFESTS}
    if not outside:
        return ()
    noun = "file is" if len(outside) == 1 else "files are"
    return (f"{len(outside)} affected test {noun} not listed in any manifest",)
