"""What `upstream` measured, beside manifests: rows to generate them from, and what holds of what they say.

`python -m tests.benchmarks.manifest_evidence rows OUT.json... > rows.json` writes what `relay manifest generate --from`
reads. A failure that the CPU has as well is version skew, says nothing about the device, and is a skip there.
`python -m tests.benchmarks.manifest_evidence check FOLDER OUT.json...` resolves the manifests for every test that was
measured and says where they and the measurement differ; exit code 1 when something required fails on the device
alone, or an entry for failures fits tests none of which failed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relay.contract import Observation
from relay.manifests import manifest_files
from selector.manifests import ManifestDocument, Profile, load_manifests, resolve
from selector.manifests.decision import NOT_IN_MANIFESTS
from selector.manifests.resolution import Resolution
from selector.types import CollectedTest, Mode

DEVICE = "spyre"
_SHOWN = 60
_WORKS = frozenset({Observation.PASSED, Observation.SKIPPED})
_EXCUSES = frozenset({Mode.XFAIL, Mode.XFAIL_STRICT})


@dataclass(frozen=True, slots=True)
class Measured:
    """One test that was collected on the device, and what was seen of it there. `speaks` is False for a test that was
    not run, and for a failure that the CPU has as well."""

    test: CollectedTest
    speaks: bool
    seen: Mapping[str, Any]

    @property
    def fails(self) -> bool:
        """Whether the device has a failure of its own here."""
        return self.speaks and self.seen["observation"] not in _WORKS


@dataclass(frozen=True, slots=True)
class Verdict:
    """A measured test and what the manifests say about it."""

    measured: Measured
    said: Resolution

    @property
    def word(self) -> str:
        """What comes of both, in a word for counting."""
        works = "works" if self.measured.speaks else "says nothing"
        mode = "not listed" if self.said.rule == NOT_IN_MANIFESTS else self.said.mode
        return f"{mode}: {'fails' if self.measured.fails else works}"

    @property
    def had_less(self) -> bool:
        """Whether the entry asks for more than the measurement gave: a process of its own, or more time."""
        hurried = self.measured.seen["observation"] == Observation.TIMED_OUT
        return self.said.isolate or (hurried and (self.said.timeout_s or 0) > self.measured.seen["seconds"])

    @property
    def is_wrong(self) -> bool:
        """Required, and fails on the device alone in spite of all that it is given."""
        return self.said.mode is Mode.MANDATORY_SUCCESS and self.measured.fails and not self.had_less


def main() -> int:
    """Write rows, or check manifests."""
    wanted = _arguments()
    measured = list(read(json.loads(path.read_text()) for path in wanted.results))
    if wanted.command == "rows":
        _say(json.dumps({"tests": [row(one) for one in measured]}, indent=1))
        return 0
    return _check(wanted.folder, measured)


def read(documents: Iterable[Mapping[str, Any]]) -> Iterator[Measured]:
    """The tests of the device's side of documents of `upstream`, with what collecting them on the CPU told."""
    for document in documents:
        for file in document["files"]:
            told = {test["id"]: test for test in file["collected_on_cpu"]}
            for found in file["tests"]:
                if found[DEVICE] is not None:
                    twin = told[found["cpu"]["id"]] if found["cpu"] else {}
                    yield Measured(_test(found, twin), _speaks(found), found[DEVICE])


def _speaks(found: Mapping[str, Any]) -> bool:
    here, there = found[DEVICE]["observation"], found["cpu"] and found["cpu"]["observation"]
    return here is not None and (here in _WORKS or there is None or there in _WORKS)


def _test(found: Mapping[str, Any], twin: Mapping[str, Any]) -> CollectedTest:
    test_id, (file, cls, base) = found[DEVICE]["id"], found["base"].split("::")
    parameters = tuple((str(name), str(value)) for name, value in twin.get("parameters", ()))
    method = test_id.rpartition("::")[2]
    return CollectedTest(
        test_id, file, cls, base, method, op=twin.get("op"), dtype=twin.get("dtype"), parameters=parameters
    )


def row(one: Measured) -> dict[str, object]:
    """As the service lists a test, with what was seen on the device where that says something about it."""
    return {
        "id": one.test.id,
        "base": str(one.test.base_test),
        "observation": one.seen["observation"] if one.speaks else "skipped",
        "duration_s": one.seen["seconds"],
        "detail": one.seen["detail"] if one.speaks else "",
    }


def verdicts(measured: Sequence[Measured], documents: Sequence[ManifestDocument]) -> list[Verdict]:
    """Every measured test with what the manifests say of it. Raises ManifestError."""
    table = resolve(load_manifests(documents), [one.test for one in measured], profile=Profile.COMPAT, device=DEVICE)
    return [Verdict(one, table.by_id[one.test.id]) for one in measured]


def idle(found: Sequence[Verdict]) -> list[tuple[str, str]]:
    """The entries that expect failures, and the base names they do so for, where no variant failed: place, name.
    Names without a class, which is how entries are matched."""
    failing: Counter[tuple[str, str]] = Counter()
    for one in found:
        if one.said.mode in _EXCUSES and one.said.rule == "listed":
            failing[one.said.provenance, f"{one.measured.test.file}::{one.measured.test.base}"] += one.measured.fails
    return sorted(place for place, count in failing.items() if not count)


def _check(folder: Path, measured: Sequence[Measured]) -> int:
    files = manifest_files(folder)
    documents = [ManifestDocument(path.relative_to(folder).as_posix(), path.read_text()) for path in files]
    found = verdicts(measured, documents)
    listed = load_manifests(documents).files()
    _say(f"{len(found)} tests of {len({one.measured.test.file for one in found} & listed)} of {len(listed)} files")
    for word, count in sorted(Counter(one.word for one in found).items()):
        _say(f"{count:7}  {word}")
    wrong = [one for one in found if one.is_wrong]
    _list("required, and fails on the device alone", [one.measured.test.id for one in wrong])
    unused = idle(found)
    _list("expected to fail, and no variant did", [f"{place}  {name}" for place, name in unused])
    short = [one.measured.test.id for one in found if one.measured.fails and one.had_less]
    _list("failed, and is given a process of its own or more time than it had", short)
    _list("listed and not measured", sorted(listed - {one.measured.test.file for one in found}))
    return 1 if wrong or unused else 0


def _list(heading: str, lines: Sequence[str]) -> None:
    _say(f"{heading}: {len(lines)}")
    for line in lines[:_SHOWN]:
        _say(f"    {line}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    rows = commands.add_parser("rows", help="results in the form that `relay manifest generate --from` reads")
    check = commands.add_parser("check", help="hold manifests beside what was measured")
    check.add_argument("folder", type=Path, help="a folder of manifests")
    for command in (rows, check):
        command.add_argument("results", type=Path, nargs="+", metavar="OUT.json", help="what `upstream --json` wrote")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
