"""What importing torch's databases of operators gives, as JSON on stdout: for a child process, which alone imports it.

`python -m tests.benchmarks.imported_operators`, with the release to be read first on `PYTHONPATH`. `read_imported`
starts that for another environment.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DATABASES = ("torch.testing._internal.common_methods_invocations", "torch.testing._internal.hop_db")
_TIMEOUT_S = 300


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """One entry: dtypes for a device out of the tree; of each decorator the tests and devices it says it is for."""

    kind: str
    dtypes: frozenset[str]
    backward_dtypes: frozenset[str]
    decorators: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """The entries by name, and the lists with the names of their entries."""

    version: str
    entries: Mapping[str, ImportedEntry]
    lists: Mapping[str, tuple[str, ...]]


def read_imported(environment: str) -> Imported:
    """Import the release that stands first in `environment`, which is folders as in `PYTHONPATH`; empty: the installed
    one. Raises `CalledProcessError` when it cannot be imported, whose `stderr` says why."""
    root = str(Path(__file__).parents[2])
    variables = {"PATH": os.environ["PATH"], "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (environment, root)))
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.imported_operators"]
    done = subprocess.run(command, env=variables, capture_output=True, check=True, timeout=_TIMEOUT_S, text=True)
    said = json.loads(done.stdout)
    entries = {
        name: ImportedEntry(
            kind, frozenset(dtypes), frozenset(backward), tuple((test, tuple(on)) for test, on in decorators)
        )
        for name, kind, dtypes, backward, decorators in said["entries"]
    }
    return Imported(said["version"], entries, {name: tuple(names) for name, names in said["lists"].items()})


def _entry(kind: str, dtypes: list[str], backward: list[str], decorators: list[tuple[str, list[str]]]) -> ImportedEntry:
    said = tuple((test, tuple(devices)) for test, devices in decorators)
    return ImportedEntry(kind, frozenset(dtypes), frozenset(backward), said)


def main() -> int:
    """Print what is imported. `torch` is loaded here and nowhere else."""
    torch: Any = importlib.import_module("torch")
    base: Any = importlib.import_module("torch.testing._internal.opinfo.core").OpInfo
    found: dict[str, list[Any]] = {}
    for dotted in _DATABASES:
        for name, value in vars(importlib.import_module(dotted)).items():
            if "_" in name and isinstance(value, list) and value and all(isinstance(entry, base) for entry in value):
                found[name] = value
    entries = {entry.full_name: entry for listed in found.values() for entry in listed}
    said = {
        "version": str(torch.__version__),
        "entries": [[name, *_described(entry)] for name, entry in entries.items()],
        "lists": {name: [entry.full_name for entry in listed] for name, listed in found.items()},
    }
    print(json.dumps(said))
    return 0


def _described(entry: Any) -> Iterator[Any]:
    yield type(entry).__name__
    yield _names(entry.supported_dtypes("privateuse1"))
    yield _names(entry.supported_backward_dtypes("privateuse1"))
    yield [
        [
            ".".join(part for part in (getattr(one, name, None) for name in ("cls_name", "test_name")) if part),
            _devices(getattr(one, "device_type", None)),
        ]
        for one in entry.decorators
    ]


def _devices(said: Any) -> list[str]:
    return [said] if isinstance(said, str) else sorted(said or ())


def _names(dtypes: Any) -> list[str]:
    return sorted(str(dtype).removeprefix("torch.") for dtype in dtypes)


if __name__ == "__main__":
    sys.exit(main())
