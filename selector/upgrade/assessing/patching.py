"""One patch of all manifests for an upgrade: names as the newer release spells them (`proposing.py`), and, with results
of both releases, what it fixed required.

A promotion without an upgrade needs weeks of passing runs. Here the upgrade is the reason why a test passes now, so one
run proposes it, and a person decides: nothing is written but the patch.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.authoring.promotion import Proposal, propose, rewrite
from selector.manifests.authoring.results import ObservedTest
from selector.manifests.authoring.streaks import Policy
from selector.upgrade.assessing.proposing import propose_names
from selector.upgrade.types import OutcomeKind, UpgradeReport

_ONE_RUN = Policy(runs=1, days=1, machines=0)


def propose_patch(
    report: UpgradeReport, documents: Sequence[ManifestDocument], seen: Sequence[ObservedTest] = ()
) -> str:
    """A unified diff of all manifests that have something to edit, for `git apply` or `patch -p1` where they are; lines
    with `#` before it say why a test is to be required, and what is left to a person. `seen` are the attempts on the
    newer release. Empty when there is nothing to say.

    Raises ManifestError when a manifest does not load.
    """
    edited, notes = propose_names(report, documents)
    required, more = _with_fixed_required(report, edited, seen)
    pairs = zip(documents, required, strict=True)
    told = [f"# {note}\n" for note in (*notes, *more)]
    return "".join([*told, *(line for before, after in pairs for line in _diff(before, after))])


def _with_fixed_required(
    report: UpgradeReport, documents: Sequence[ManifestDocument], seen: Sequence[ObservedTest]
) -> tuple[list[ManifestDocument], list[str]]:
    fixed = {it.id for it in report.outcomes.outcomes if it.kind is OutcomeKind.FIXED} if report.outcomes else set()
    if not fixed:
        return list(documents), []
    made, held = propose(seen, load_manifests(documents), device=report.device, policy=_ONE_RUN)
    wanted = [one for one in made if not fixed.isdisjoint(one.ids)]
    bases = {(one.file, one.base) for one in seen if one.id in fixed}
    notes = [str(one) for one in held if (one.file, one.base) in bases]
    undated = sum(one.at is None for one in seen if one.id in fixed)
    if undated:
        who = "1 result has" if undated == 1 else f"{undated} results have"
        notes.append(f"{who} no date, so it is not proposed to require what passed there")
    return _rewritten(report, documents, wanted, seen, notes), notes


def _rewritten(
    report: UpgradeReport,
    documents: Sequence[ManifestDocument],
    wanted: Sequence[Proposal],
    seen: Sequence[ObservedTest],
    notes: list[str],
) -> list[ManifestDocument]:
    """The manifests with what can be written of these proposals; why, and what can not, is added to `notes`."""
    found = []
    for document in documents:
        rewritten = rewrite(document, wanted, seen, device=report.device)
        notes += map(str, (*rewritten.made, *rewritten.refused))
        found.append(rewritten.document)
    return found


def _diff(before: ManifestDocument, after: ManifestDocument) -> Iterator[str]:
    old, new = before.text.splitlines(keepends=True), after.text.splitlines(keepends=True)
    for line in difflib.unified_diff(old, new, f"a/{before.name}", f"b/{before.name}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
