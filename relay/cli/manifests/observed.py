"""Where a command's results come from: JUnit and JSON files, folders of them, and runs of the relay.

Turns everything that can go wrong there into one sentence with a next step. What the results mean is the selector's
matter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from relay.cli.connect import load_settings, open_client
from relay.cli.manifests import text
from relay.client import ApiClient
from relay.failures import Failure
from selector.manifests.authoring.result_files import MAX_RESULT_BYTES, read_results, read_rows
from selector.manifests.authoring.results import Naming, ObservedTest, ResultsError, names_in, no_source_names
from selector.trees import DirectoryTree

_PAGE = 200


class BadResults(Failure):
    """There are no results, or what was given can not be read as results."""

    code = "bad_results"


@dataclass(frozen=True, slots=True)
class Observed:
    """What was observed, and the device's word in generated names."""

    tests: tuple[ObservedTest, ...]
    device: str


def observed(
    sources: Sequence[Path] | None,
    runs: Sequence[int] | None,
    *,
    device: str | None,
    upstream: Path | None,
    url: str | None,
) -> Observed:
    """What the files, the files in the folders, and the runs of the relay say. Raises BadResults, and what the client
    raises.
    """
    if not sources and not runs:
        raise BadResults(text.no_source_of_results(), text.results_hint())
    word = device or load_settings().device
    naming = _naming(word, upstream)
    try:
        found = [one for path in sources or () for one in observed_in(path, naming)]
        if runs:
            with open_client(url) as client:
                found += [one for run_id in runs for one in _run(client, run_id, naming)]
    except ResultsError as error:
        raise BadResults(str(error), text.results_hint()) from error
    return Observed(tuple(found), word)


def observed_in(path: Path, naming: Naming) -> tuple[ObservedTest, ...]:
    """What a file, or the files in a folder, say. Raises BadResults."""
    try:
        return tuple(one for file in _files(path) for one in _read(file, naming))
    except ResultsError as error:
        raise BadResults(str(error), text.results_hint()) from error


def _naming(device: str, upstream: Path | None) -> Naming:
    if upstream is None:
        return Naming(device, no_source_names)
    if not upstream.is_dir():
        raise BadResults(text.no_upstream(str(upstream)), text.source_names_hint())
    return Naming(device, names_in(DirectoryTree(upstream)))


def _files(path: Path) -> list[Path]:
    if not path.exists():
        raise BadResults(text.no_manifest(str(path)), text.results_hint())
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.glob("**/*") if file.suffix in {".xml", ".json"} and file.is_file())
    if not files:
        raise BadResults(text.no_results_in(str(path)), text.results_hint())
    return files


def _read(path: Path, naming: Naming) -> tuple[ObservedTest, ...]:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_RESULT_BYTES + 1)
    except OSError as error:
        raise BadResults(f"{path} can not be read: {error.strerror}") from error
    return read_results(path.as_posix(), data, naming)


def _run(client: ApiClient, run_id: int, naming: Naming) -> Iterator[ObservedTest]:
    detail = client.run(run_id).model_dump(mode="json", include={"run", "shards"})
    cursor: str | None = None
    while True:
        page = client.tests(run_id, limit=_PAGE, cursor=cursor)
        rows = page.model_dump(mode="json")["tests"]
        yield from read_rows(f"run {run_id}", {**detail, "tests": rows}, naming)
        cursor = client.cursor_of(page)
        if cursor is None:
            return
