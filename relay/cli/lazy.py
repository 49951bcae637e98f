"""A command tree whose commands are made when they are reached: `relay --help` imports none of them.

What the list of commands says of each stands beside where it is found, in `relay.cli.root`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from relay.cli import help_text
from relay.cli.documented import codes_of

if TYPE_CHECKING:
    # What typer's own groups are typed with; `typer.Context` is a narrower class.
    from typer._click.core import Command, Context


@dataclass(frozen=True, slots=True)
class Entry:
    """A command or a group of commands: `module:name` of its function or its `typer.Typer`, and its first sentence."""

    place: str
    summary: str


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and summary, and makes one when a command line leads to it."""

    _waiting: dict[str, Entry]
    _epilog_of_all: str

    def fill(self, entries: Mapping[str, Entry], epilog: str) -> None:
        """Give the group its commands. `epilog` ends the help of each."""
        self._waiting, self._epilog_of_all = dict(entries), epilog
        for name, entry in entries.items():
            self.commands[name] = TyperCommand(name=name, help=entry.summary, rich_markup_mode=None)

    def load(self, name: str) -> None:
        """Make the command of that name, if there is one and it is not made yet."""
        entry = self._waiting.pop(name, None)
        if entry is not None:
            self.commands[name] = _made(name, entry, self._epilog_of_all).commands[name]

    def load_all(self) -> LazyGroup:
        """Make every command, for what looks at the whole tree."""
        for name in list(self._waiting):
            self.load(name)
        return self

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """As ever, with the command that is meant made first."""
        if args:
            self.load(args[0])
        return super().resolve_command(ctx, args)


def _made(name: str, entry: Entry, epilog: str) -> TyperGroup:
    """A group that holds nothing but the command."""
    module, _, attribute = entry.place.partition(":")
    found = getattr(import_module(module), attribute)
    holder = typer.Typer(rich_markup_mode=None, add_completion=False, callback=lambda: None)
    if isinstance(found, typer.Typer):
        found.rich_markup_mode = holder.rich_markup_mode
        holder.add_typer(found, name=name)
    else:
        holder.command(name)(found)
    for info in (*holder.registered_commands, *(found.registered_commands if isinstance(found, typer.Typer) else ())):
        info.epilog = info.epilog or epilog
    group = get_command(holder)
    if not isinstance(group, TyperGroup):
        raise TypeError(f"{entry.place} is no command")
    _tell_codes(group, ())
    return group


def _tell_codes(command: TyperCommand | TyperGroup, path: tuple[str, ...]) -> None:
    """Let the help of each command end with the codes that it may end with."""
    below: dict[str, TyperCommand | TyperGroup] = getattr(command, "commands", {})
    for name, inner in below.items():
        _tell_codes(inner, (*path, name))
    if path and (not below or getattr(command, "invoke_without_command", False)):
        options = {name for parameter in command.params for name in parameter.opts}
        command.epilog = f"{help_text.codes(codes_of(path, options))}\n\n{command.epilog or ''}".rstrip()
