"""Finds the built device library, loads it into the running torch and gives the device its Python face.

Runs inside `import torch`, after torch has defined everything but before the importing program goes on. It must not
build anything: a process that starts must not wait for a compiler.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from workers.spyre.cache import (
    USUAL_NAME,
    CacheError,
    candidates,
    default_cache,
    is_supported,
    library_for,
    supported_series,
)
from workers.spyre.profile import PROFILE_VARIABLE, Profile, ProfileError, load_profile
from workers.spyre.seal import Seal, SealError, read_seal
from workers.spyre.settling import settle_at_exit

LIBRARY_VARIABLE = "SPYRE_LIBRARY"
COUNT_VARIABLE = "SPYRE_DEVICE_COUNT"
MAX_DEVICES = 8

_BUILD = "Run `relay device build`."
_UNNAMED = "privateuseone"  # torch's name for the backend that no package has taken yet


class DeviceLoadError(Exception):
    """The device cannot be used in this process; the message names the cause and the next step."""


def load_or_explain() -> None:
    """Load the device that this environment has; when there is none, write one line that says why.

    Beside our own errors this is for what a file system, a broken installation or torch's registries can raise: an
    entry point that raises would take torch from every program of this environment. Anything else is a bug and raised.
    """
    try:
        load_device(find_library())
    except (DeviceLoadError, OSError, ImportError, RuntimeError) as error:
        if sys.stderr is not None:  # there is none in a process without a standard error
            sys.stderr.write(f"{USUAL_NAME}: no device: {' '.join(str(error).split())}\n")


def find_library() -> Path:
    """Return the library that this environment means: `SPYRE_LIBRARY`, else this torch's in the default cache.

    Raises `DeviceLoadError` when neither is there.
    """
    if named := os.environ.get(LIBRARY_VARIABLE):
        return Path(named)
    import torch  # noqa: PLC0415 - the module must be importable without torch

    version = str(torch.__version__)
    if not is_supported(version):
        raise DeviceLoadError(
            f"it is written for torch {supported_series()}, this is torch {version}. "
            f"Install torch {supported_series()}, then run `relay device build`."
        )
    try:
        cache = default_cache()
    except CacheError as error:
        raise DeviceLoadError(f"{error}, then run `relay device build`.") from error
    library = library_for(cache, version)
    if not library.exists():
        raise DeviceLoadError(f"{_why_absent(cache, version)}. {_BUILD}")
    return library


def _why_absent(cache: Path, torch_version: str) -> str:
    built_for = sorted({candidate.torch for candidate in candidates(cache) if candidate.device == USUAL_NAME})
    if torch_version in built_for:
        return f"the libraries in {cache} were compiled from other sources than this installation has"
    if built_for:
        return f"it is compiled for torch {', '.join(built_for)}, this is torch {torch_version}"
    return f"it is not compiled yet for torch {torch_version} (nothing in {cache})"


def load_device(library: Path) -> None:
    """Register the device with torch, under the name that the library was built with; a second call in the same process
    does nothing. Raises `DeviceLoadError`."""
    import torch  # noqa: PLC0415 - the package must be importable without torch

    taken_by = torch._C._get_privateuse1_backend_name()
    if _is_loaded(taken_by):
        return
    require_device_count(os.environ.get(COUNT_VARIABLE, "1"))
    profile = chosen_profile()
    name = require_built_for(library, str(torch.__version__)).device
    if taken_by != _UNNAMED:
        raise DeviceLoadError(f"torch has room for one out-of-tree device, and this process has `{taken_by}` already.")
    try:
        ctypes.CDLL(str(library.resolve()))
    except OSError as error:
        raise DeviceLoadError(f"the device library {library} cannot be loaded: {error}. {_BUILD}") from error
    torch.utils.rename_privateuse1_backend(name)
    from workers.spyre import device, lazy_modules, scattering  # noqa: PLC0415 - these need torch and the library

    torch._register_device_module(name, device)
    torch.utils.generate_methods_for_privateuse1_backend()
    from workers.spyre import exchange  # noqa: PLC0415 - imports torch
    from workers.spyre.host_work import use_profile  # noqa: PLC0415 - imports torch

    try:
        use_profile(profile)
    except ValueError as error:  # torch's registries are changed by now, but no operator has run
        raise DeviceLoadError(f"{PROFILE_VARIABLE} cannot be used: {error}") from error
    exchange.answer_for(name)
    lazy_modules.keep_lazy_parameters()
    scattering.complete_torch()
    settle_at_exit()


def _is_loaded(taken_by: str) -> bool:
    """Whether the out-of-tree device that torch has is ours already, under whatever name."""
    module = sys.modules.get(f"torch.{taken_by}")
    return module is not None and module is sys.modules.get("workers.spyre.device")


def chosen_profile() -> Profile:
    """Return the profile that `SPYRE_PROFILE` names (default `compat`). Raises `DeviceLoadError`."""
    try:
        return load_profile(os.environ.get(PROFILE_VARIABLE, ""))
    except ProfileError as error:
        raise DeviceLoadError(str(error)) from error


def require_built_for(library: Path, torch_version: str) -> Seal:
    """What an intact library for exactly this torch says of itself. Raises `DeviceLoadError` for any other file."""
    try:
        seal = read_seal(library)
    except SealError as error:
        raise DeviceLoadError(f"the device library {library} {error}. {_BUILD}") from error
    if seal.torch != torch_version:
        raise DeviceLoadError(
            f"the device library {library} was built for torch {seal.torch}, this is torch {torch_version}. {_BUILD}"
        )
    return seal


def require_device_count(text: str) -> None:
    """Raise `DeviceLoadError` unless the text is a number of devices that can be emulated."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MAX_DEVICES):
        raise DeviceLoadError(
            f"{COUNT_VARIABLE} is {text[:40]!r}, the number of devices must be 1 to {MAX_DEVICES}. "
            "Correct it or unset it (one device)."
        )
