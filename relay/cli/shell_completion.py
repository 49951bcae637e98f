"""typer's completion, without the two options it would add to the command: the script for a shell, and the answers to
the questions that script asks through the environment. Imported only when either is wanted."""

from __future__ import annotations

# typer's own options are made of these two, and it exports neither by name.
from typer.completion import completion_init, get_completion_script  # type: ignore[attr-defined]  # typer does not list them as its own

#: Set by the script when it asks.
VARIABLE = "_RELAY_COMPLETE"


def be_ready_to_answer() -> None:
    """Let typer know the shells; it answers before any command runs."""
    completion_init()


def script_for(shell: str) -> str:
    """What the shell has to read."""
    return str(get_completion_script(prog_name="relay", complete_var=VARIABLE, shell=shell))
