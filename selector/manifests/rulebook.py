"""The rules manifests are checked by: id, severity, one sentence why, one how to fix. Ids are stable: tools and people
write them down. What a rule looks for is in the modules that find it, this is only what it is called and means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from selector.manifests.document import Path, Placed
from selector.manifests.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. `fixable`: `--fix` applies `how` where it is safe. `needs_upstream`: only with upstream's sources."""

    id: str
    severity: Severity
    why: str
    how: str
    fixable: bool = False
    needs_upstream: bool = False


def report(placed: Placed, rule: str, path: Path, message: str) -> Finding:
    """A warning by a rule at a value. Manifests load in spite of it; `lint` gives it the severity of its rule."""
    return placed.finding(placed.place(path), message, Severity.WARNING, RULES[rule].id)


def _error(rule: str, why: str, how: str) -> Rule:
    return Rule(rule, Severity.ERROR, why, how)


def _warning(rule: str, why: str, how: str, *, fixable: bool = False) -> Rule:
    return Rule(rule, Severity.WARNING, why, how, fixable)


def _stale(rule: str, why: str, how: str) -> Rule:
    return Rule(rule, Severity.WARNING, why, how, needs_upstream=True)


_TABLE = (
    _error("yaml-syntax", "The text is no YAML, so nothing of it can be read.", "Correct the text at the place."),
    _error(
        "unsafe-yaml",
        "A manifest is plain data of a bounded size; other YAML types, alias bombs and other encodings are refused.",
        "Write plain UTF-8 text with fewer aliases, or split the manifest.",
    ),
    _error(
        "schema", "A value is missing or has the wrong type, so the manifest does not load.", "Write what it asks for."
    ),
    _error(
        "duplicate-key",
        "Of a key that stands twice in a mapping, the last one wins without a word; the manifest loads all the same.",
        "Delete the other one.",
    ),
    _error(
        "invalid-name",
        "A name that is neither a method nor a valid pattern stops the collection of its file when it is matched.",
        "Write `method`, `Class::method`, or a regular expression for the method.",
    ),
    _error("no-files", "A manifest without file blocks governs nothing and fails when it is run.", "Add a file block."),
    _error(
        "unknown-section",
        "`edits` has four sections; another one is ignored without a word.",
        "Use `ops`, `dtypes`, `modules` or `functions`.",
    ),
    _error(
        "padded-name",
        "Names are not trimmed: a blank at the start or end never matches.",
        "Delete the blank.",
    ),
    _error(
        "two-kinds",
        "An argument is of one kind; of two, the first in a fixed order counts and the other is ignored.",
        "Keep one of the keys.",
    ),
    _error(
        "unknown-token",
        "A path knows two tokens; another variable is never replaced, so the block names no file.",
        "Write ${TORCH_ROOT} or ${TORCH_DEVICE_ROOT}.",
    ),
    _warning("unknown-key", "A key that no code reads is ignored silently.", "Correct its spelling, or delete it."),
    _warning(
        "misplaced-kwargs",
        "`kwargs` beside `sample_inputs_func` is ignored, so the sample runs with default arguments.",
        "Move `kwargs` inside `sample_inputs_func`.",
    ),
    _warning(
        "inert-key", "The key is accepted and has no effect where it stands.", "Delete it, or say it where it counts."
    ),
    _warning(
        "path-without-root",
        "A path that starts with no token is not looked for in any tree.",
        "Start it with ${TORCH_ROOT}/ or ${TORCH_DEVICE_ROOT}/.",
    ),
    _warning(
        "path-outside-tree", "A path that leaves the upstream tree names no upstream file.", "Write it without `..`."
    ),
    _warning(
        "glob-path",
        "The launcher expands a glob, the matcher does not: the files start and then match no block.",
        "Write one block for each file.",
    ),
    _warning(
        "duplicate-path",
        "Of two blocks about one file the first counts in a single run, and merging changes which one wins.",
        "Merge the blocks.",
    ),
    _warning(
        "duplicate-model",
        "A model's name is part of its tests' ids, so of two models with one name the first counts.",
        "Give the other one a name of its own.",
    ),
    _warning(
        "model-without-uses",
        "Nothing is on record of what the model uses of torch, so every change of its code leads to the model.",
        "Run `relay manifest model-ops` on the manifest.",
    ),
    _warning(
        "quoted-path",
        "The launcher reads `path:` lines as text and keeps the quotes, so that it misses the file.",
        "Delete the quotes.",
        fixable=True,
    ),
    _warning(
        "textual-file-list",
        "The launcher takes its files from lines that start with `path:`, and not from the YAML.",
        "Write the block's `path` on a line of its own, and no other line that starts with `path:`.",
    ),
    _warning(
        "missing-unlisted-mode",
        "The default is `xfail` in the code and `skip` in the RFC; readers can not tell which was meant.",
        "Write `unlisted_test_mode`.",
        fixable=True,
    ),
    _warning("empty-names", "An entry without names matches nothing.", "Add names, or delete the entry.", fixable=True),
    _warning(
        "duplicate-name",
        "A method that is listed twice is decided by the first entry; the second mention does nothing.",
        "Delete the later one; `--fix` does so within one entry.",
        fixable=True,
    ),
    _warning(
        "class-conflict",
        "Class names are not compared, so entries of different modes for two classes get the mode of the first.",
        "Use one mode, or the `strict` profile, which compares classes.",
    ),
    _warning(
        "shadowed-entry",
        "An earlier entry takes every variant, so the mode, tags and edits of this one are lost.",
        "Merge the entries, or tell them apart by `edits.dtypes.include`.",
    ),
    _warning(
        "lost-tags",
        "An exact name goes before a pattern, so the tags of the pattern's entry do not reach that test.",
        "Repeat the tags at the exact name.",
    ),
    _warning(
        "dtype-in-name",
        "The framework reads dtypes out of names: a base name with one in it is filtered as if it were of that dtype.",
        "Allow the dtype in `edits.dtypes.include`, or use the `strict` profile.",
    ),
    _warning(
        "glob-pattern",
        "Patterns are regular expressions: `test_foo*` is `test_fo` and any number of `o`.",
        "Write `.*` for any text.",
    ),
    _warning(
        "orphan-label",
        "A label that is no tier selects nothing; without any tier the manifest is never run.",
        "Use smoke, unit, integration, regression, trunk or perf.",
    ),
    _warning(
        "unreachable-label",
        "An entry runs under the tiers of its file only; none of the entry's labels is among them.",
        "Add the tier to the manifest's labels, or change the entry's.",
    ),
    _warning(
        "dotted-operator",
        "Dots are underscores in generated names, so a dotted operator never matches here.",
        "Exclude the base test, or list its variants by dtype.",
    ),
    _warning(
        "allow-list-empties",
        "An allow-list that would leave no operator is not applied, so everything runs.",
        "Leave the key out, or name operators that exist.",
        fixable=True,
    ),
    _warning(
        "precision-string",
        "YAML 1.1 takes `1e-3` for text; another reader than ours may not make a number of it.",
        "Write it with a dot: `0.001`, `1.0e-9`.",
        fixable=True,
    ),
    _warning(
        "expired-entry",
        "The day has passed until which the entry was to excuse its tests.",
        "Run the tests; then renew `expires`, or delete the entry.",
    ),
    _warning(
        "closed-issue",
        "What an entry waits for is done or given up when its issue is closed, and nobody looks again.",
        "Run the tests; then delete the entry, or cite the issue that is open.",
    ),
    _warning(
        "copied-global",
        "A `global` that is copied to many manifests has to be edited in all of them.",
        "Keep it in one place with `relay manifest migrate`.",
    ),
    _stale("dead-name", "No test of the upstream file has this name, so it matches nothing.", "Correct or delete it."),
    _stale(
        "generated-name",
        "Names are compared with base methods; a generated name never matches.",
        "Write the base name.",
    ),
    _stale("moved-class", "Another class has the test now, which the strict profile minds.", "Write the new class."),
    _stale("moved-file", "The test stands in another file now, so this block can not match it.", "Move the name."),
    _stale("removed-file", "The upstream file is gone, and the run says nothing about it.", "Delete the block."),
    _stale("unknown-operator", "Upstream's database has no such operator, so it allows nothing.", "Correct its name."),
)

#: Every rule by its id, in the order of the table.
RULES: Mapping[str, Rule] = MappingProxyType({rule.id: rule for rule in _TABLE})
