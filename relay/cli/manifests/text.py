"""Every sentence that the manifest commands say beside their findings, as functions named after the situation.

The sentences about a manifest's content are the selector's (`selector.manifests`). Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selector.manifests.rules import Tolerance


def no_manifest(path: str) -> str:
    return f"there is no file or folder {path}"


def no_manifest_in(path: str) -> str:
    return f"{path} holds no *.yaml file"


def no_manifest_hint() -> str:
    return "name manifest files or folders; without any, those of RELAY_MANIFEST_DIR are used"


def no_upstream(path: str) -> str:
    return f"there is no upstream tree {path}"


def no_upstream_hint() -> str:
    return "--upstream names a checkout of the upstream repository, --rev and --since commits of it"


def no_closed_issues(path: str, cause: str) -> str:
    return f"{path} gives no closed issues: {cause}"


def no_closed_issues_hint() -> str:
    return "`gh issue list --repo OWNER/NAME --state closed --limit 5000 --json url` writes such a list"


def stale_summary(counts: Mapping[str, int]) -> str:
    """`2 dead name findings, 1 moved class finding`, or that nothing is stale."""
    if not counts:
        return "nothing is stale"
    return ", ".join(f"{count} {kind} finding{'' if count == 1 else 's'}" for kind, count in counts.items())


def no_results_in(path: str) -> str:
    return f"{path} holds no *.xml or *.json file"


def no_source_of_results() -> str:
    return "there are no results to work from"


def no_results() -> str:
    return "the results say nothing about any test of the upstream tree"


def results_hint() -> str:
    return "--from takes JUnit files, saved answers of /api/v1/runs/ID/tests, and folders; --from-run a run's number"


def source_names_hint() -> str:
    return "--upstream names a checkout of the upstream repository, whose test files tell base names from variants"


def guessed_bases(count: int) -> str:
    tests = f"{count} test" if count == 1 else f"{count} tests"
    return f"the base names of {tests} were cut out of generated names; give --upstream to be certain of them"


def file_is_there(path: str) -> str:
    return f"{path} exists already"


def file_is_there_hint() -> str:
    return "name another --output, or give the file as --existing to extend it"


def write_by_hand_hint() -> str:
    return "write the named place in block style, one entry to a line, and try again"


def generated(tests: int, files: int, entries: int) -> str:
    return f"{tests} {_s('test', tests)} in {files} {_s('file', files)}: {entries} new {_s('entry', entries)}"


def _s(noun: str, count: int) -> str:
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def bad_ids(path: str, problem: str) -> str:
    return f"the collected tests can not be read from {path}: {problem}"


def ids_hint() -> str:
    return '--ids takes a JSON list of node ids, or {"universe": [{"id", "file", "class", "base", "method", ...}]}'


def did_you_mean_one_of(near: Sequence[str]) -> str:
    return f"did you mean {' or '.join(near)}?" if near else ""


def changed(effect: str, count: int) -> str:
    """`12 tests removed from the run`."""
    happened = {
        "removed": "removed from the run",
        "added": "added to the run",
        "mode": "with another mode",
        "tolerance": "with another tolerance",
        "tags": "with other tags",
    }
    return f"{count} {_s('test', count)} {happened[effect]}"


def and_more(count: int) -> str:
    return f"and {count} more"


def difference_summary(counts: Mapping[str, int], unchanged: int) -> str:
    """`2 removed, 1 mode, 30 unchanged`, or that nothing is different."""
    found = [f"{count} {effect}" for effect, count in counts.items() if count]
    same = f"{unchanged} {_s('test', unchanged)}"
    return f"{', '.join(found)}, {unchanged} unchanged" if found else f"no difference for {same}"


def candidates(profile: str) -> str:
    return f"candidates, {profile}, in order of precedence:"


def checks(profile: str) -> str:
    return f"checks, {profile}, the first hit decides:"


def to_know() -> str:
    return "good to know:"


def what_was_meant() -> str:
    return "what was meant:"


def any_dtype() -> str:
    return "any dtype"


def chosen() -> str:
    return "chosen"


def left_out(why: str) -> str:
    return f"left out: {why}"


def hit(is_hit: bool) -> str:
    return "hit" if is_hit else "no"


def same_as(profile: str) -> str:
    return f"the same as in {profile}"


def tolerance(found: Tolerance | None) -> str:
    """`atol 0.001, rtol 0.01`; empty for none."""
    if found is None:
        return ""
    given = (("atol", found.atol), ("rtol", found.rtol))
    return ", ".join(f"{name} {value:g}" for name, value in given if value is not None)


def guessed_test(base: str, op: str, dtype: str) -> str:
    known = f"base name {base}, operator {op or 'none'}, dtype {dtype or 'none'}"
    return f"read out of the id: {known}; give --ids with the collected tests to be certain"


def exported(manifests: int, tests: int, digest: str) -> str:
    sources = f"{manifests} {_s('manifest', manifests)} and {tests} {_s('test', tests)}"
    return (
        f"Made by `relay manifest export` from {sources}, table {digest[:12]}.\n"
        "Every call replaces the whole configuration, so let this be the only one."
    )


def resolved(modes: Mapping[str, int], digest: str) -> str:
    """`3 tests: 2 xfail, 1 skip; table 0123456789ab`."""
    total = sum(modes.values())
    counts = ", ".join(f"{count} {mode}" for mode, count in sorted(modes.items())) or "none resolved"
    return f"{total} {_s('test', total)}: {counts}; table {digest}"


def undated(count: int) -> str:
    return f"{count} {_s('result', count)} without a date {'does' if count == 1 else 'do'} not count"


def promoted(made: int, waiting: int, *, written: bool) -> str:
    proposals = f"{made} {_s('proposal', made)}, {waiting} waiting"
    return f"{proposals}; written" if written and made else proposals


def not_written(path: str, why: str) -> str:
    return f"{path} can not be written: {why}"


def not_written_hint() -> str:
    return "name a place that you may write to; nothing was changed"


def folder_is_full(path: str) -> str:
    return f"{path} is not empty"


def folder_is_full_hint() -> str:
    return "name a folder for the sources that does not exist yet"


def digests_differ(before: str, after: str) -> str:
    return f"the compiled manifests would mean something else: table {after[:12]} instead of {before[:12]}"


def digests_differ_hint() -> str:
    return "nothing was written; `relay manifest diff` shows what differs"


def factored(manifests: int, defaults: int, before: int, after: int, digest: str) -> str:
    sections = f"{defaults} shared {_s('section', defaults)}"
    counts = f"{manifests} {_s('manifest', manifests)}, {sections}: {before} lines are now {after}"
    return f"{counts}; compiled again they resolve alike, table {digest[:12]}"


def compile_hint() -> str:
    return "shared lines stand in x-defaults/NAME.yaml beside the sources"


def without_source(name: str) -> str:
    return f"{name} has no source; remove it, or move it to the sources"


def compiled(manifests: int, changed: int, *, written: bool) -> str:
    state = "written" if written else "out of date"
    return f"{manifests} {_s('manifest', manifests)}: {changed} {state}"


def plain_ids(count: int) -> str:
    tests = f"{count} {_s('test', count)}"
    return f"base name, operator and dtype of {tests} were read out of the id; an object for each test tells them"
