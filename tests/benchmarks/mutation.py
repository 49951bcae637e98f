"""Executable truth: which tests fail when one function of PyTorch is changed, and who would have selected them.

    python -m tests.benchmarks.mutation --tree TREE --root SYSTEM --work DIR [--mutants FILE] [--count N] [--json OUT]

TREE is a PyTorch source tree with its tests, SYSTEM a folder with a whole system in which that very version is
installed (a Debian chroot with `python3-torch` and `python3-pytest`); without `--root` it is the torch of the running
Python. It needs the right to mount: a mutated file lies over the installed one for the run's own processes only.

The steps: a first run chooses quick test files, a second one, the null run, finds the tests that do not repeat; the
function map is recorded; mutants are drawn, run against all chosen files, and everybody selects for them. Each step
keeps its results in DIR, so that a run that was cut off goes on where it was. `--table` only prints what there is.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path, PurePosixPath

from selector.catalog import CatalogFile
from selector.known import ExecutedFunctions
from tests.benchmarks.mutation_figures import Labels
from tests.benchmarks.mutation_map import recorded_map
from tests.benchmarks.mutation_place import Place, PlaceError
from tests.benchmarks.mutation_plan import Mutant, document, from_document, installed_alike, plan
from tests.benchmarks.mutation_rankings import Chosen, Rankings
from tests.benchmarks.mutation_runs import BaseFile, Bench, clean, differing, failing, write_json
from tests.benchmarks.mutation_table import Row, figures, missed, table

SELECTOR = Path(__file__).parents[2] / "selector"
_CATALOG_BYTES = 1 << 30


def main() -> int:
    """Run what is missing, select, print."""
    wanted = _arguments()
    wanted.work.mkdir(parents=True, exist_ok=True)
    try:
        place = Place(wanted.root, wanted.tree, wanted.work)
    except PlaceError as error:
        _note(str(error))
        return 1
    bench = Bench(place, wanted.tree, wanted.work)
    files = _chosen(bench, wanted)
    null = bench.whole("null", files, {})
    labelled = clean(files, null)
    tests, unlike = sum(len(file.tests) for file in files), len(differing(files, null))
    _say(f"{len(files)} files, {tests} tests, {len(labelled)} pass twice; in the null run {unlike} differ")
    executed = recorded_map(bench, files, wanted.work / "map.json")
    mutants = _mutants(wanted, place, executed)
    if not wanted.table:
        _run(mutants, files, wanted, place)
    rows = list(_rows(mutants, files, labelled, wanted, executed))
    for line in (table(rows), *missed(rows)):
        _say(line)
    if wanted.json is not None:
        write_json(wanted.json, figures(rows))
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.mutation", description="mutate and select")
    parser.add_argument("--tree", type=Path, required=True, help="a PyTorch source tree with its tests")
    parser.add_argument("--root", type=Path, help="a folder with a system in which this PyTorch is installed")
    default = Path(tempfile.gettempdir()) / "mutation-benchmark"
    parser.add_argument("--work", type=Path, default=default, help=f"keeps all results (default {default})")
    parser.add_argument("--mutants", type=Path, metavar="FILE", help="mutants to take instead of drawing them")
    parser.add_argument("--count", type=int, default=48, help="mutants to draw (default 48)")
    parser.add_argument("--seed", default="mutants", help="what they are drawn by")
    parser.add_argument("--seconds", type=float, default=100, help="test seconds of one whole run (default 100)")
    parser.add_argument("--file-seconds", type=float, default=10, help="of one test file at most (default 10)")
    parser.add_argument("--jobs", type=int, default=1, help="mutants that run at the same time (default 1)")
    parser.add_argument("--table", action="store_true", help="run no mutants, only print what there is")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as well")
    return parser.parse_args()


def _chosen(bench: Bench, wanted: argparse.Namespace) -> list[BaseFile]:
    """The test files of the first run; one work folder has one choice."""
    kept = wanted.work / "chosen.json"
    if not kept.is_file():
        write_json(kept, [asdict(file) for file in bench.base(wanted.tree, wanted.seconds, wanted.file_seconds, _note)])
    return [BaseFile(**file) for file in json.loads(kept.read_text(encoding="utf-8"))]


def _mutants(wanted: argparse.Namespace, place: Place, executed: ExecutedFunctions) -> list[Mutant]:
    kept = wanted.work / "mutants.json"
    if wanted.mutants is not None:
        return from_document(json.loads(wanted.mutants.read_text(encoding="utf-8")))
    if not kept.is_file():
        sources = installed_alike(wanted.tree, place.installed)
        write_json(kept, document(plan(sources, executed.executing, wanted.count, wanted.seed)))
    return from_document(json.loads(kept.read_text(encoding="utf-8")))


def _run(mutants: Sequence[Mutant], files: Sequence[BaseFile], wanted: argparse.Namespace, place: Place) -> None:
    """Every mutant against every file. The processes of a run belong to the thread that started them."""

    def run(mutant: Mutant) -> None:
        Bench(place, wanted.tree, wanted.work).whole(mutant.name, files, {mutant.site.path: laid(mutant)})
        _note(f"{mutant.area}: {mutant.title}")

    def laid(mutant: Mutant) -> Path:
        file = Path(wanted.work).resolve() / "laid" / mutant.name / PurePosixPath(mutant.site.path).name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(mutant.site.mutated((wanted.tree / mutant.site.path).read_bytes()))
        return file

    with ThreadPoolExecutor(wanted.jobs) as threads:
        list(threads.map(run, mutants))


def _rows(
    mutants: Sequence[Mutant],
    files: Sequence[BaseFile],
    labelled: frozenset[str],
    wanted: argparse.Namespace,
    executed: ExecutedFunctions,
) -> Iterator[Row]:
    """A row for every mutant that has been run. What was chosen is kept by the code that chose."""
    tests = {test: base for file in files for test, base in file.tests.items()}
    catalogs = CatalogFile(wanted.work / "catalogs", _note, limit=_CATALOG_BYTES)
    rankings = Rankings(wanted.tree, [file.file for file in files], executed, catalogs)
    folder = wanted.work / "choices" / _text_of_selector()
    for mutant in mutants:
        run, kept = wanted.work / "runs" / f"{mutant.name}.json", folder / f"{mutant.name}.json"
        if not run.is_file():
            continue
        if not kept.is_file():
            source = (wanted.tree / mutant.site.path).read_bytes()
            write_json(kept, asdict(rankings.of(mutant, source)))
        seen = json.loads(run.read_text(encoding="utf-8"))
        labels = None if seen["problem"] else Labels(tests, failing(seen["seen"], labelled))
        yield Row(mutant, labels, Chosen(**json.loads(kept.read_text(encoding="utf-8"))))


def _text_of_selector() -> str:
    """A digest of the code that a choice depends on."""
    digest = hashlib.sha256()
    for file in sorted(path for path in SELECTOR.rglob("*") if path.suffix in (".py", ".json")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def _note(text: str) -> None:
    sys.stderr.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
