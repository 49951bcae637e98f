"""What the tests of deploy/ share: its files, its command lines held to the real commands, the real settings."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from relay.cli.lazy import LazyGroup
from relay.cli.manner import ANYWHERE
from relay.cli.root import build
from relay.settings import RelaySettings
from relay.settings.secret_folder import SECRETS
from workers.settings import WorkerSettings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
SETTINGS = frozenset(
    f"RELAY_{name.upper()}"
    for name in {*RelaySettings.model_fields, *WorkerSettings.model_fields, *(f"{secret}_file" for secret in SECRETS)}
)
#: The repository of a backend says with it which relay command its workflow installs; no program of ours reads it.
WORKFLOW_VARIABLES = frozenset({"RELAY_VERSION"})


def text_files() -> Iterator[Path]:
    """Every file of deploy/ that people wrote."""
    for path in sorted(DEPLOY.rglob("*")):
        if path.is_file() and not {"__pycache__", "secrets"} & set(path.parts):
            yield path


def named_variables(text: str) -> set[str]:
    """The names in a text that look like settings of ours. A family, as `RELAY_LLM_*`, is none."""
    return {name for name in re.findall(r"\bRELAY_[A-Z0-9_]+\b", text) if not name.endswith("_")}


@cache
def _tree() -> LazyGroup:
    return build().load_all()


def check_command(words: Sequence[str]) -> None:
    """Fail unless these words after `relay` are a command with its options and arguments. Nothing is run."""
    command: object = _tree()
    rest, path = [word for word in words if word not in ANYWHERE], ["relay"]
    while rest and rest[0] in getattr(command, "commands", {}):
        path.append(rest.pop(0))
        command = command.commands[path[-1]]  # type: ignore[attr-defined] # it has commands, or we were not here
    assert len(path) > 1, f"no command: relay {' '.join(words)}"
    # Reads the words as a start would, raises what it would say, and stops before it does anything.
    command.make_context(" ".join(path), rest)  # type: ignore[attr-defined] # every command has it


def make_secrets(folder: Path, *more: str) -> None:
    """What an operator does first, under a mask that lets nobody else read."""
    command = [sys.executable, str(DEPLOY / "make_secrets.py"), str(folder), *more]
    subprocess.run(command, check=True, capture_output=True, umask=0o077)
