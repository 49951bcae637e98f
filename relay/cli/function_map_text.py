"""What `relay map` and the map of `relay select` say to people."""

from __future__ import annotations


def recorded(path: str, files: int, all_files: int, tests: int) -> str:
    return f"{path}: {files} test files recorded, {all_files} files and {tests} tests in the map"


def nothing_recorded() -> str:
    return "no test file could be recorded"


def nothing_recorded_hint() -> str:
    return "name test files of the tree with --file, and see `relay device status` where the device is missing"


def unreadable(path: str, why: str) -> str:
    return f"the function map {path} cannot be read: {why}"


def unreadable_hint() -> str:
    return "record it with `relay map record`"


def no_tree(path: str) -> str:
    return f"there is no folder {path}"


def no_tree_hint() -> str:
    return "name a checkout of the upstream repository with --tree"


def no_files() -> str:
    return "the manifests name no test file"


def no_files_hint() -> str:
    return "name test files of the tree with --file, or other manifests with --manifests"
