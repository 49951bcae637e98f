"""Every sentence that the manifest commands say beside their findings, as functions named after the situation.

The sentences about a manifest's content are the selector's (`selector.manifests`). Standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping


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
    return "--from takes JUnit files, saved answers of /api/v1/runs/ID/tests, and folders of both; --run a run's number"


def source_names_hint() -> str:
    return "--upstream names a checkout of the upstream repository, whose test files tell base names from variants"


def guessed_bases(count: int) -> str:
    tests = f"{count} test" if count == 1 else f"{count} tests"
    return f"the base names of {tests} were cut out of generated names; give --upstream to be certain of them"


def file_is_there(path: str) -> str:
    return f"{path} exists already"


def file_is_there_hint() -> str:
    return "name another --output"


def generated(tests: int, files: int, entries: int) -> str:
    return f"{tests} {_s('test', tests)} in {files} {_s('file', files)}: {entries} new {_s('entry', entries)}"


def _s(noun: str, count: int) -> str:
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
