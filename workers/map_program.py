"""`python -m workers.map_program --tree TREE --out MAP FILE...`: records which functions upstream's tests execute.

One JSON value on standard output; a refusal is one sentence on standard error after `error: `, and exit code 1. Files
that a map holds already are recorded anew, its others are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from selector.executed import FunctionMap, MapError, open_map, write_map
from workers.runner.map_recorder import MapRecorder
from workers.runner.sandbox import find_sandbox
from workers.runner.types import Installation, RunnerLimits, RunnerTree
from workers.spyre.build import DeviceBuildError, ensure_library
from workers.spyre.cache import CacheError, default_cache

_CPU = "cpu"
#: Recording makes tests several times slower before Python 3.12.
_LIMITS = RunnerLimits(test_timeout_s=300, file_timeout_s=3_600, collect_timeout_s=600)


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    asked = _parser().parse_args(arguments)
    out: Path = asked.out.expanduser().absolute()
    try:
        before = open_map(out) if out.exists() else None
        recorded = _record(asked)
        known = recorded if before is None else before.updated(recorded)
        write_map(out, known)
    except (MapError, DeviceBuildError, CacheError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(json.dumps(_figures(recorded, known)) + "\n")
    return 0 if recorded.executed else 1


def _record(asked: argparse.Namespace) -> FunctionMap:
    library = None
    if asked.device != _CPU:
        cache = asked.cache.expanduser().absolute() if asked.cache else default_cache()
        library = ensure_library(cache, _note, device=asked.device)
    with tempfile.TemporaryDirectory(prefix="function-map-") as scratch:
        # Open to the sandbox's own user, who has to read what is staged there.
        Path(scratch).chmod(0o755)
        installation = Installation(asked.device, library, profile=asked.profile)
        recorder = MapRecorder(installation, Path(scratch), find_sandbox(), _LIMITS)
        return recorder.record_files(RunnerTree(asked.tree.expanduser().absolute()), asked.files, _note)


def _figures(recorded: FunctionMap, known: FunctionMap) -> dict[str, object]:
    return {
        "tree": known.tree,
        "recorded": sorted(recorded.executed),
        "files": len(known.executed),
        "tests": sum(bool(test) for tests in known.executed.values() for test in tests),
        "functions": sum(len(names) for names in known.defined.values()),
    }


def _note(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="relay map record")
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="spyre")
    parser.add_argument("--profile", default="compat")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("files", nargs="+")
    return parser


if __name__ == "__main__":
    sys.exit(main())
