"""What the `path` of a file block means to us: a test file of the upstream tree, or a file that is none of ours."""

from __future__ import annotations

import posixpath

UPSTREAM_ROOT = "${TORCH_ROOT}"
DEVICE_ROOT = "${TORCH_DEVICE_ROOT}"
_GLOB_CHARACTERS = frozenset("*?[")


def upstream_file(path: str) -> str | None:
    """The path relative to the upstream tree (`test/test_x.py`), or None for any other file.

    Only `${TORCH_ROOT}` names the upstream tree; a path that leaves it again is not in it.
    """
    if not path.startswith(f"{UPSTREAM_ROOT}/"):
        return None
    relative = posixpath.normpath(path.removeprefix(f"{UPSTREAM_ROOT}/").lstrip("/"))
    return None if relative in {".", ".."} or relative.startswith("../") else relative


def file_key(path: str) -> str:
    """The name that test files go by here: relative to the upstream tree where they are in it, else the path as written
    in the manifest, made normal."""
    return upstream_file(path) or posixpath.normpath(path)


def path_problem(path: str) -> str:
    """Why a path will find no file although the manifest loads; empty when it looks right."""
    if not path.startswith((f"{UPSTREAM_ROOT}/", f"{DEVICE_ROOT}/", "/")):
        return f"`path` starts with neither {UPSTREAM_ROOT}/ nor {DEVICE_ROOT}/, so it names no file"
    if not _GLOB_CHARACTERS.isdisjoint(path):
        return "`path` names one file; `*`, `?` and `[` are not expanded"
    if path.startswith(UPSTREAM_ROOT) and upstream_file(path) is None:
        return "`path` leaves the upstream tree"
    return ""
