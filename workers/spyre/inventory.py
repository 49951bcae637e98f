"""`python -m workers.spyre.inventory`: which built libraries there are, as JSON, without importing torch.

Looks and changes nothing. For people the `relay device list` command shows it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from workers.spyre.build import DeviceBuildError, find_torch
from workers.spyre.cache import CacheError, Candidate, candidates, default_cache, library_for
from workers.spyre.load import LIBRARY_VARIABLE
from workers.spyre.seal import SealError, read_seal


@dataclass(frozen=True, slots=True)
class BuiltLibrary:
    """One file of the cache. `problem` is empty when it is intact, `used` when this environment would load it."""

    path: str
    device: str
    torch: str
    digest: str
    compiler: str
    bytes: int
    problem: str
    used: bool


@dataclass(frozen=True, slots=True)
class Inventory:
    """What is in a cache. `wanted` is the file that `import torch` of this environment looks for (empty: none, and
    `problem` says why); it need not exist, and `SPYRE_LIBRARY` may name one outside the cache."""

    cache: str
    torch: str
    wanted: str
    problem: str
    libraries: tuple[BuiltLibrary, ...]


def take_inventory(cache: Path | None = None) -> Inventory:
    """Look through a cache, the default one without an argument. Raises `workers.spyre.cache.CacheError`."""
    folder = default_cache() if cache is None else cache
    torch, wanted, problem = "", os.environ.get(LIBRARY_VARIABLE, ""), ""
    try:
        torch = find_torch().version
        wanted = wanted or str(library_for(folder, torch))
    except DeviceBuildError as error:
        problem = str(error)
    if os.environ.get(LIBRARY_VARIABLE) == "":
        wanted, problem = "", f"{LIBRARY_VARIABLE} is empty, which switches the device off"
    found = tuple(_built_library(candidate, wanted) for candidate in candidates(folder))
    return Inventory(str(folder), torch, wanted, problem, found)


def _built_library(candidate: Candidate, wanted: str) -> BuiltLibrary:
    compiler, problem = "", ""
    try:
        seal = read_seal(candidate.path)
        compiler = seal.compiler
        if seal.torch != candidate.torch:
            problem = f"is sealed for torch {seal.torch}"
        elif seal.device != candidate.device:
            problem = f"is sealed for the device {seal.device}"
    except SealError as error:
        problem = str(error)
    size = candidate.path.stat().st_size if candidate.path.exists() else 0
    used = str(candidate.path) == wanted
    of_name = (candidate.device, candidate.torch, candidate.digest)
    return BuiltLibrary(str(candidate.path), *of_name, compiler, size, problem, used)


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `python -m workers.spyre.inventory`."""
    parser = argparse.ArgumentParser(prog="python -m workers.spyre.inventory", description="List built libraries.")
    parser.add_argument("--cache", type=Path, help="folder that keeps built libraries, instead of the default one")
    cache: Path | None = parser.parse_args(arguments).cache
    try:
        inventory = take_inventory(cache.resolve() if cache else None)
    except CacheError as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except OSError as error:  # a folder that this user may not look into
        sys.stderr.write(f"error: {error.filename or cache} cannot be read: {error.strerror}; choose another --cache\n")
        return 1
    sys.stdout.write(json.dumps(asdict(inventory)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
