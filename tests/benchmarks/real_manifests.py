"""How a folder of public manifests fares: which load, what is found in them by rule, and how long it takes.

`python -m tests.benchmarks.real_manifests PATH [--upstream PATH [--rev REV]] [--json OUT]`, for example on the
`tests/configs` of a clone of torch-spyre. Every manifest is loaded on its own, as its framework does. Exit code 1 when
one is rejected.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from relay.manifests import manifest_files, read_manifest
from selector.manifests import ManifestDocument, ManifestError, load_manifests
from selector.manifests.lint import RULES, lint
from selector.manifests.lint.across import identical_globals
from selector.manifests.lint.checked import examine
from selector.trees import DirectoryTree, GitTree, SourceTree


@dataclass(frozen=True, slots=True)
class Account:
    """What was measured. Times are wall-clock seconds; `slowest_s` is that of the manifest `slowest`.

    `most_in_one` names, for each rule, the manifest with most of its findings and their number. `repeated_methods` are
    methods that one file block lists more than once, whatever the rule about it; `identical_globals` the sizes of the
    groups of manifests with the same `global`.
    """

    files: int
    bytes: int
    accepted: int
    rejected: dict[str, str]
    blocks: int
    entries: int
    names: int
    names_by_mode: dict[str, int]
    findings: dict[str, int]
    manifests_by_rule: dict[str, int]
    most_in_one: dict[str, tuple[str, int]]
    repeated_methods: int
    identical_globals: tuple[int, ...]
    load_s: float
    slowest: str
    slowest_s: float
    lint_s: float


_REPEATED = ("class-conflict", "shadowed-entry", "duplicate-name")


def account(documents: Sequence[ManifestDocument], upstream: SourceTree | None = None) -> Account:
    """Load and check the manifests."""
    rejected: dict[str, str] = {}
    seconds: dict[str, float] = {}
    for document in documents:
        start = time.perf_counter()
        try:
            load_manifests([document])
        except ManifestError as error:
            rejected[document.name] = str(error)
        seconds[document.name] = time.perf_counter() - start
    start = time.perf_counter()
    findings = lint(documents, upstream)
    lint_s = time.perf_counter() - start
    readable = [checked for document in documents if (checked := examine(document)[0])]
    entries = [entry for checked in readable for _, _, entry in checked.entries()]
    counts = Counter(finding.rule for finding in findings)
    places = Counter((finding.rule, finding.file) for finding in findings)
    modes = Counter({str(entry.mode): 0 for entry in entries})
    for entry in entries:
        modes[str(entry.mode)] += len(entry.names)
    slowest = max(seconds, key=lambda name: seconds[name], default="")
    return Account(
        files=len(documents),
        bytes=sum(len(document.text.encode(errors="surrogateescape")) for document in documents),
        accepted=len(documents) - len(rejected),
        rejected=rejected,
        blocks=sum(len(checked.suite.files) for checked in readable),
        entries=len(entries),
        names=modes.total(),
        names_by_mode=dict(modes),
        findings={rule: counts[rule] for rule in RULES if counts[rule]},
        manifests_by_rule=dict(Counter(rule for rule, _ in places)),
        most_in_one={rule: (file, count) for (rule, file), count in reversed(places.most_common())},
        repeated_methods=sum(counts[rule] for rule in _REPEATED),
        identical_globals=tuple(sorted(map(len, identical_globals(readable)), reverse=True)),
        load_s=sum(seconds.values()),
        slowest=slowest,
        slowest_s=seconds.get(slowest, 0.0),
        lint_s=lint_s,
    )


def report(found: Account) -> str:
    """The account for people."""
    modes = ", ".join(f"{count} {mode}" for mode, count in found.names_by_mode.items())
    lines = [
        f"{found.files} files, {found.bytes / 1e6:.1f} MB: {found.accepted} accepted, {len(found.rejected)} rejected",
        *(f"  rejected: {reason}" for reason in found.rejected.values()),
        f"{found.blocks} file blocks, {found.entries} entries, {found.names} names ({modes})",
        "findings by rule:",
        *(_rule_line(found, rule) for rule in found.findings),
        f"methods listed more than once in a block: {found.repeated_methods}",
        f"manifests with an identical global: {', '.join(map(str, found.identical_globals)) or 'none'}",
        f"loaded in {found.load_s:.2f} s, the slowest in {found.slowest_s:.3f} s ({found.slowest})",
        f"all rules in {found.lint_s:.2f} s",
    ]
    return "\n".join(lines)


def _rule_line(found: Account, rule: str) -> str:
    file, most = found.most_in_one[rule]
    manifests = found.manifests_by_rule[rule]
    return f"  {rule:22} {found.findings[rule]:5} in {manifests} manifests, {most} of them in {file}"


def main() -> int:
    """Account for one folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, metavar="PATH")
    parser.add_argument("--upstream", type=Path, metavar="PATH", help="an upstream tree, for the rules that need it")
    parser.add_argument("--rev", metavar="REV", help="a commit of that tree (default: the files there)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as well")
    wanted = parser.parse_args()
    files = manifest_files(wanted.folder)
    documents = [read_manifest(file, file.relative_to(wanted.folder).as_posix()) for file in files]
    tree: SourceTree | None = None
    if wanted.upstream is not None:
        tree = GitTree(wanted.upstream, wanted.rev) if wanted.rev else DirectoryTree(wanted.upstream)
    found = account(documents, tree)
    sys.stdout.write(f"{report(found)}\n")
    if wanted.json is not None:
        wanted.json.write_text(f"{json.dumps(asdict(found), indent=2)}\n", encoding="utf-8")
    return 1 if found.rejected else 0


if __name__ == "__main__":
    raise SystemExit(main())
