"""Where built device libraries are kept, and which of them fits this torch: known from names, without any compiler.

`import torch` asks here in every process of this environment, so it must stay cheap: standard library only, no
subprocess, no look into the libraries. What a file really holds is its seal's business (`workers.spyre.seal`).
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

CACHE_VARIABLE = "RELAY_DEVICE_CACHE"

#: The device is written against the C++ interfaces of these torch minor versions, the usual one first.
TORCH_SERIES = ("2.13", "2.14")

#: The one file that is compiled lies here, with what it includes.
SOURCES = Path(__file__).parent / "native"
FLAGS = ("-std=c++20", "-O1", "-fPIC", "-shared", "-fvisibility=hidden")

#: What the device is called unless a backend's description gives it another name.
USUAL_NAME = "spyre"
DEVICE_NAME = r"[a-z][a-z0-9_]{0,30}"

_NAME = re.compile(rf"lib(?P<device>{DEVICE_NAME})-torch(?P<torch>[\w.+-]+)-(?P<digest>[0-9a-f]{{16}})\.so")


class CacheError(Exception):
    """There is no place for built libraries; the message names the cause and the next step."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file of the cache that calls itself a device library, read from its name."""

    path: Path
    torch: str
    digest: str
    device: str


def default_cache() -> Path:
    """Return `$RELAY_DEVICE_CACHE`, else `oot-relay/device` in the user's cache folder. It need not exist.

    A relative `XDG_CACHE_HOME` is ignored, as the XDG base directory specification asks. Raises `CacheError`.
    """
    try:
        if given := os.environ.get(CACHE_VARIABLE):
            return Path(given).expanduser().resolve()
        base = os.environ.get("XDG_CACHE_HOME", "")
        return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "oot-relay" / "device"
    except RuntimeError as error:
        raise CacheError(f"this user has no home folder; set {CACHE_VARIABLE} to a folder for the device") from error


def is_supported(torch_version: str) -> bool:
    """Whether the device can be built for this torch at all."""
    return torch_version.startswith(tuple(f"{series}." for series in TORCH_SERIES))


def supported_series() -> str:
    """The minor versions of torch that the device can be built for, in words: `2.13 or 2.14`."""
    return " or ".join(TORCH_SERIES)


def library_for(cache: Path, torch_version: str, device: str = USUAL_NAME) -> Path:
    """Return where the library of these sources for this torch is, or will be, under that name of the device.

    The name says what went in but for the compiler, which cannot be asked in every process; the seal keeps that.
    """
    return cache / f"lib{device}-torch{torch_version}-{source_digest(torch_version, device)}.so"


def flags_for(device: str) -> tuple[str, ...]:
    """The compiler's options for a device of that name."""
    return FLAGS if device == USUAL_NAME else (*FLAGS, f'-DDEVICE_NAME="{device}"')


def source_digest(torch_version: str, device: str = USUAL_NAME) -> str:
    """16 hexadecimal digits that change with the sources, the compiler's options, the device's name and torch."""
    digest = hashlib.sha256("\0".join((torch_version, *flags_for(device))).encode())
    for source in sorted(SOURCES.rglob("*")):
        if source.suffix in {".cpp", ".h"}:
            digest.update(f"\0{source.relative_to(SOURCES)}\0".encode() + source.read_bytes())
    return digest.hexdigest()[:16]


def candidates(cache: Path) -> list[Candidate]:
    """The libraries in the cache, by their names, sorted by them; a cache that is not there has none."""
    found = ((path, _NAME.fullmatch(path.name)) for path in sorted(cache.glob("lib*-torch*.so")))
    return [Candidate(path, name["torch"], name["digest"], name["device"]) for path, name in found if name]
