"""The sentences of `relay upgrade`. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Iterable


def no_such_side(option: str, given: str, repo: str) -> str:
    return f"{option} {given} is no folder, no wheel, and no revision of {repo}"


def no_such_side_hint() -> str:
    return "fetch the revision first or name its clone with --repo; a wheel is wheel:VERSION or wheel:PATH"


def no_tree(option: str, given: str) -> str:
    return f"{option} {given} is no tree of PyTorch: it has neither test/ nor torch/"


def no_tree_hint() -> str:
    return "give the root of a checkout, the folder that a wheel is installed in, or a .whl file"


def no_installed_torch(version: str, known: Iterable[str]) -> str:
    here = ", ".join(sorted(known))
    return f"no environment of this machine has torch {version}" + (f"; there is {here}" if here else "")


def no_installed_torch_hint() -> str:
    return "add one with `relay env add`, or name the wheel's file or folder: wheel:PATH"


def tests_on_one_side(with_tests: str, without: str) -> str:
    return f"{with_tests} has tests and {without} has none; every test would look added or removed"


def tests_on_one_side_hint() -> str:
    return "compare two checkouts, or two wheels for their operators alone"


def same_tree(name: str) -> str:
    return f"both sides are the same tree, {name}; there is nothing to compare"


def same_tree_hint() -> str:
    return "give two releases, for example --from v2.13.0 --to v2.14.0"


def wheels_have_no_tests() -> str:
    return "wheels hold no tests: only operators are compared"


def unknown_kind(name: str) -> str:
    return f"'{name}' does not say what to write; end it with .html, .json or .md"


def file_without_json() -> str:
    return "a file is only named for the JSON; add --json, or name it with --out"


def no_model() -> str:
    return "there is no model to write summaries with"


def no_model_hint() -> str:
    return "set RELAY_LLM_BASE_URL and RELAY_LLM_MODEL, or leave out --summaries"


def patch_without_manifests() -> str:
    return "a patch is made of manifests; leave out --no-manifests"


def results_hint() -> str:
    return "--results takes two files or folders: JUnit, or saved answers of /api/v1/runs/ID/tests"


def no_folder_for(file: str) -> str:
    return f"there is no folder to write {file} to"


def written(what: str, file: str) -> str:
    return f"{what} is written to {file}"


def nothing_to_patch() -> str:
    return "no manifest needs an edit; no patch is written"


def published(url: str, repeated: bool) -> str:
    return f"the report {'was published before' if repeated else 'is published'}: {url}"


def running(run: int, release: str, url: str) -> str:
    return f"run {run} on {release}: {url}"


def stopped_waiting(url: str) -> str:
    return f"the runs go on; {url} tells what they find"


def not_compared(url: str) -> str:
    return f"both runs have ended and the relay has not compared them yet; {url} will tell"


def results_and_run() -> str:
    return "results come from files or from --run; leave out one of them"


def comparing(base: str, head: str) -> str:
    return f"comparing {base} with {head}"
