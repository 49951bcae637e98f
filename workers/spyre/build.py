"""Builds the device library: one g++ call against the headers of the installed torch, kept in a cache.

The file's name is a hash of what goes in, so a library is never stale (`workers.spyre.cache`). torch is found but not
imported: this runs in processes that must stay free of it. As a program it prints the path of the library.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from workers.spyre.cache import (
    SOURCES,
    TORCH_SERIES,
    USUAL_NAME,
    CacheError,
    default_cache,
    flags_for,
    is_supported,
    library_for,
    supported_series,
)
from workers.spyre.seal import Seal, SealError, add_seal, read_seal

BUILD_TIMEOUT_S = 600

_SHOWN_LINES = 12


class DeviceBuildError(Exception):
    """The library cannot be built here; the message is one sentence for people, with the next step."""


@dataclass(frozen=True, slots=True)
class TorchInstall:
    """Where torch lies and which version it is."""

    folder: Path
    version: str


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C++ compiler and its version."""

    path: str
    version: str


def ensure_library(
    cache: Path,
    announce: Callable[[str], None] = lambda _: None,
    *,
    wheel: Path | None = None,
    device: str = USUAL_NAME,
) -> Path:
    """Return the library for a torch, compiling it (10 to 20 s) when the cache has no intact one.

    The torch is the installed one, or the one in the folder `wheel` of another environment; `device` is the name that
    torch gets to know the device by. `announce` gets one sentence before the compiler starts, for people who would
    wonder what takes so long. Safe to call from several processes at once: one compiles, the others wait for it. Raises
    `DeviceBuildError`.
    """
    torch = find_torch() if wheel is None else torch_in(wheel / "torch")
    library = library_for(cache, torch.version, device)
    if _is_intact(library, torch, device):
        return library
    compiler = find_compiler()
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with _only_builder(cache):
            if not _is_intact(library, torch, device):  # another process may have built it while we waited
                announce(f"compiling the device for torch {torch.version} with g++ {compiler.version}, about 20 s ...")
                _build(library, torch, compiler, device)
    except OSError as error:
        raise DeviceBuildError(
            f"the device library cannot be written to {cache}: {error.strerror}; choose a folder that you can write to"
        ) from error
    return library


def find_torch() -> TorchInstall:
    """Locate the installed torch without importing it. Raises `DeviceBuildError`."""
    spec = importlib.util.find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise DeviceBuildError(
            "torch is not installed in this environment; install the extra `emulator`: "
            "pip install 'oot-relay[emulator]'"
        )
    return torch_in(Path(spec.submodule_search_locations[0]))


def torch_in(folder: Path) -> TorchInstall:
    """The torch in its package folder, if the device can be built for it. Raises `DeviceBuildError`."""
    version = _version_in(folder)
    if not is_supported(version):
        raise DeviceBuildError(
            f"torch {version or 'of an unknown version'} is installed, but the device needs torch "
            f"{supported_series()}: pip install 'torch=={TORCH_SERIES[0]}.0'"
        )
    return TorchInstall(folder, version)


def find_compiler() -> Compiler:
    """Locate g++. Raises `DeviceBuildError`."""
    path = shutil.which("g++")
    if path is None:
        raise DeviceBuildError(
            "the device library needs a C++ compiler and there is no g++ on PATH; "
            "install the Debian/Ubuntu package g++: apt-get install g++"
        )
    try:
        answer = subprocess.run([path, "-dumpfullversion"], capture_output=True, text=True, check=True, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        raise DeviceBuildError(f"{path} does not run ({error}); reinstall the Debian/Ubuntu package g++") from error
    return Compiler(path, answer.stdout.strip())


def _version_in(torch_folder: Path) -> str:
    try:
        text = (torch_folder / "version.py").read_text(encoding="utf-8")
    except OSError:
        return ""
    found = re.search(r"^__version__\s*=\s*['\"]([\w.+-]+)['\"]", text, re.MULTILINE)
    return found[1] if found else ""


def _is_intact(library: Path, torch: TorchInstall, device: str) -> bool:
    try:
        seal = read_seal(library)
    except SealError:
        return False
    return (seal.torch, seal.device) == (torch.version, device)


@contextmanager
def _only_builder(cache: Path) -> Iterator[None]:
    """Hold the cache's lock. The kernel drops it when the process dies, so it cannot go stale."""
    with (cache / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _build(library: Path, torch: TorchInstall, compiler: Compiler, device: str) -> None:
    """Compile beside the final place and rename, so that nobody ever sees half a library."""
    with tempfile.TemporaryDirectory(dir=library.parent, prefix=".build-") as scratch:
        unfinished = Path(scratch) / library.name
        _compile(unfinished, torch, compiler, device)
        add_seal(unfinished, Seal(torch.version, compiler.version, device))
        os.replace(unfinished, library)


def _compile(output: Path, torch: TorchInstall, compiler: Compiler, device: str) -> None:
    command = [
        *(compiler.path, *flags_for(device), "-isystem", str(torch.folder / "include"), str(SOURCES / "spyre.cpp")),
        *("-o", str(output), f"-L{torch.folder / 'lib'}", "-ltorch_cpu", "-ltorch", "-lc10"),
    ]
    try:
        subprocess.run(command, capture_output=True, text=True, errors="replace", check=True, timeout=BUILD_TIMEOUT_S)
    except subprocess.CalledProcessError as error:
        raise DeviceBuildError(
            f"g++ could not build the device library for torch {torch.version}; it said:\n{_first_errors(error.stderr)}"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise DeviceBuildError(
            f"g++ did not finish the device library within {BUILD_TIMEOUT_S} s; try again on a less busy machine"
        ) from error


def _first_errors(compiler_output: str) -> str:
    lines = compiler_output.splitlines()
    telling = [line for line in lines if "error" in line] or lines
    return "\n".join(line[:300] for line in telling[:_SHOWN_LINES])


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")


def main(arguments: list[str] | None = None) -> int:
    """Entry point of `python -m workers.spyre.build`."""
    parser = argparse.ArgumentParser(
        prog="python -m workers.spyre.build", description="Build the library of the emulated device and print its path."
    )
    parser.add_argument("--cache", type=Path, help="folder that keeps built libraries, instead of the default one")
    cache: Path | None = parser.parse_args(arguments).cache
    try:
        library = ensure_library(cache.resolve() if cache else default_cache(), _tell)
    except (DeviceBuildError, CacheError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(f"{library}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
