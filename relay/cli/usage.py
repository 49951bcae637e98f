"""A command line that is wrong, as a failure for people: what is wrong, what was probably meant, where to read on.

The library that reads options knows one command at a time; here the whole tree is at hand, so that an option in the
wrong place and a misspelt one are answered alike. Imported by every start of the command: heavy imports stay inside.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING

import typer

from relay.cli import usage_text
from relay.cli.manner import ANYWHERE
from relay.failures import Failure

if TYPE_CHECKING:
    from typer.core import TyperCommand, TyperGroup

#: Of a value that has to be one of a few.
_CHOICE = re.compile(r"'(?P<given>[^']*)' is not one of (?P<known>'.*')\.", re.DOTALL)
_NO_OPTION = "NoSuchOption"


def wrong_line(error: typer.TyperException, words: Sequence[str], root: TyperGroup) -> Failure:
    """What to say of a command line that the library refused."""
    context = getattr(error, "ctx", None)
    path, command = (context.command_path.split(), context.command) if context else _meant(words, root)
    message = usage_text.in_our_words(" ".join(error.format_message().split()))
    # By name: the library keeps its exceptions in a private module.
    if type(error).__name__ == _NO_OPTION:
        message = _no_option(str(getattr(error, "option_name", "")), path, command)
    elif choice := _CHOICE.search(message):
        message += _guess(choice["given"], re.findall(r"'([^']*)'", choice["known"]))
    return Failure(message, usage_text.usage_hint(" ".join(path)), code="usage")


def _meant(words: Sequence[str], root: TyperGroup) -> tuple[list[str], TyperCommand | TyperGroup]:
    """The command that a command line leads to, as far as it can be followed."""
    path, command = ["relay"], root
    names = iter(words)
    for word in names:
        if word == "--":
            break
        if word.startswith("-"):
            if ANYWHERE.get(word):
                next(names, None)
            continue
        load = getattr(command, "load", None)
        if load is not None:
            load(word)
        below = getattr(command, "commands", {}).get(word)
        if below is None:
            break
        path, command = [*path, word], below
    return path, command


def _no_option(given: str, path: Sequence[str], command: TyperCommand | TyperGroup) -> str:
    said = usage_text.no_such_option(given)
    known = sorted({*_options(command), *ANYWHERE})
    if guess := _guess(given, known):
        return f"{said}.{guess}"
    below = sorted({name for inner in _below(command) for name in _options(inner)})
    if given in below:
        return f"{said}. {usage_text.belongs_after(given, ' '.join(path))}"
    return f"{said}.{_guess(given, below)}" if _guess(given, below) else said


def _options(command: TyperCommand | TyperGroup) -> Iterator[str]:
    for parameter in command.params:
        if getattr(parameter, "param_type_name", "") == "option" and not getattr(parameter, "hidden", False):
            yield from (*parameter.opts, *parameter.secondary_opts)


def _below(command: TyperCommand | TyperGroup) -> Iterator[TyperCommand | TyperGroup]:
    load_all = getattr(command, "load_all", None)
    if load_all is not None:
        load_all()
    for inner in getattr(command, "commands", {}).values():
        yield inner
        yield from _below(inner)


def _guess(given: str, known: Sequence[str]) -> str:
    """The nearest word: one that begins so, else one that looks alike."""
    longer = [name for name in known if len(given) > 3 and name.startswith(given)]
    bare = {name.lstrip("-"): name for name in known}  # two dashes in common make no likeness
    nearest = longer[:3] or [bare[name] for name in get_close_matches(given.lstrip("-"), bare, n=1, cutoff=0.7)]
    return usage_text.did_you_mean(nearest) if nearest and given not in nearest else ""
