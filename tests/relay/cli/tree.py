"""The command tree as the tests walk it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from relay.cli.lazy import LazyGroup

if TYPE_CHECKING:
    from typer.core import TyperCommand, TyperGroup


def commands(root: LazyGroup) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    """Every command and every group of commands below the root, by its path."""
    yield from _below(root.load_all(), ())


def _below(group: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], TyperCommand | TyperGroup]]:
    for name, command in getattr(group, "commands", {}).items():
        yield (*path, name), command
        yield from _below(command, (*path, name))
