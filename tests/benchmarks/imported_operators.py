"""What importing torch's databases of operators gives, as JSON on stdout: for a child process, which alone imports it.

`python -m tests.benchmarks.imported_operators`, with the release to be read first on `PYTHONPATH`. `read_imported`
starts that for another environment.
"""

from __future__ import annotations

import hashlib
import importlib
import itertools
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_DATABASES = ("torch.testing._internal.common_methods_invocations", "torch.testing._internal.hop_db")
_TIMEOUT_S = 600
#: Inputs of one entry that are looked at.
_SAMPLES = 200


@dataclass(frozen=True, slots=True)
class ImportedEntry:
    """One entry: dtypes for a device out of the tree; of each decorator the tests and devices it says it is for;
    `samples` is a digest of the inputs that it makes, empty when they were not asked for."""

    kind: str
    dtypes: frozenset[str]
    backward_dtypes: frozenset[str]
    decorators: tuple[tuple[str, tuple[str, ...]], ...]
    samples: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """The entries by name, and the lists with the names of their entries."""

    version: str
    entries: Mapping[str, ImportedEntry]
    lists: Mapping[str, tuple[str, ...]]


def read_imported(environment: str, *, samples: bool = False) -> Imported:
    """Import the release that stands first in `environment`, which is folders as in `PYTHONPATH`; empty: the installed
    one. With `samples` the inputs of each entry are made, which takes a minute. Raises `CalledProcessError` when it
    cannot be imported, whose `stderr` says why."""
    root = str(Path(__file__).parents[2])
    variables = {"PATH": os.environ["PATH"], "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONHASHSEED": "0"}
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, (environment, root)))
    command = [sys.executable, "-W", "ignore", "-m", "tests.benchmarks.imported_operators", *(["--samples"] * samples)]
    done = subprocess.run(command, env=variables, capture_output=True, check=True, timeout=_TIMEOUT_S, text=True)
    said = json.loads(done.stdout)
    entries = {name: _entry(*row) for name, *row in said["entries"]}
    return Imported(said["version"], entries, {name: tuple(names) for name, names in said["lists"].items()})


def _entry(
    kind: str, dtypes: list[str], backward: list[str], decorators: list[tuple[str, list[str]]], samples: str
) -> ImportedEntry:
    said = tuple((test, tuple(devices)) for test, devices in decorators)
    return ImportedEntry(kind, frozenset(dtypes), frozenset(backward), said, samples)


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
        "entries": [
            [name, *_described(entry), _samples(torch, entry) if "--samples" in sys.argv else ""]
            for name, entry in entries.items()
        ],
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


def _samples(torch: Any, entry: Any) -> str:
    """A digest of the inputs for one dtype: how many, of which shapes and dtypes, and what else is passed. Values are
    drawn by chance and left out."""
    dtypes = sorted(entry.dtypes, key=lambda dtype: (dtype is not torch.float32, str(dtype)))
    try:
        made = itertools.islice(entry.sample_inputs("cpu", dtypes[0]), _SAMPLES) if dtypes else []
        said = [_shown(torch, (one.input, one.args, one.kwargs)) for one in made]
    except Exception as error:  # noqa: BLE001 (whatever a sample function raises is what it does)
        said = [type(error).__name__]
    return hashlib.sha256("\n".join(said).encode()).hexdigest()


def _shown(torch: Any, value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{value.dtype}{tuple(value.shape)}{value.layout}"
    if isinstance(value, tuple | list):
        return f"[{','.join(_shown(torch, one) for one in value)}]"
    if isinstance(value, dict):
        return f"{{{','.join(f'{name}:{_shown(torch, one)}' for name, one in value.items())}}}"
    plain = value is None or isinstance(value, bool | str | torch.dtype | torch.layout)
    return repr(value) if plain else type(value).__name__


def _devices(said: Any) -> list[str]:
    return [said] if isinstance(said, str) else sorted(said or ())


def _names(dtypes: Any) -> list[str]:
    return sorted(str(dtype).removeprefix("torch.") for dtype in dtypes)


if __name__ == "__main__":
    sys.exit(main())
