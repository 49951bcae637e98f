"""`relay help [WORD]...` and `relay completion SHELL`: what there is, and having the shell know it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Annotated, Literal

import typer

from relay.cli import help_text
from relay.cli.exits import MEANINGS
from relay.cli.lazy import LazyGroup
from relay.cli.options import JsonOption
from relay.cli.output import Output

Shell = Literal["bash", "zsh", "fish", "powershell"]

#: Pages that are no command's.
TOPICS: Mapping[str, Callable[[], str]] = {
    "exit-codes": lambda: help_text.exit_codes((int(code), meaning) for code, meaning in MEANINGS.items()),
    "environment": help_text.environment,
    "json": help_text.json_output,
}


def show_help(
    context: typer.Context,
    words: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="A command, or exit-codes, environment or json.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain a command, or what all commands share.

    \b
    Examples:
      relay help run watch
      relay help exit-codes
    """
    out = Output(as_json)
    asked = words or []
    topic = TOPICS.get(asked[0]) if len(asked) == 1 else None
    page = topic() if topic else _help_of(context, asked)
    if as_json:
        codes = {str(int(code)): meaning for code, meaning in MEANINGS.items()}
        out.data({"text": page, **({"exit_codes": codes} if asked == ["exit-codes"] else {})})
        return
    out.say(page.rstrip("\n"))


def _help_of(context: typer.Context, words: list[str]) -> str:
    """The help of the command that the words lead to. Raises a usage error with the nearest word."""
    here = context.find_root()
    for word in words:
        if isinstance(here.command, LazyGroup):
            here.command.load(word)
        known: Mapping[str, typer.core.TyperCommand] = getattr(here.command, "commands", {})
        if word not in known:
            names = [*known, *(TOPICS if here.parent is None else ())]
            guess = next(iter(get_close_matches(word, names, n=1)), "")
            raise typer.BadParameter(help_text.no_such_page(word, guess, here.command_path))
        here = type(here)(known[word], info_name=word, parent=here)
    return here.get_help()


def completion(
    shell: Annotated[Shell, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
) -> None:
    """Write what a shell needs to complete `relay` commands and options.

    \b
    Examples:
      eval "$(relay completion bash)"                                    # in ~/.bashrc
      relay completion zsh > ~/.zfunc/_relay                             # with ~/.zfunc in fpath
      relay completion fish > ~/.config/fish/completions/relay.fish
      relay completion powershell >> $PROFILE
    """
    from relay.cli.shell_completion import script_for

    Output().say(script_for(shell))
