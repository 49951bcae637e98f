"""`python -m workers.environments.program list|add|remove`: a machine's named environments, for the command line.

One JSON value on standard output; a refusal is one sentence on standard error after `error: `, and exit code 1. What
takes long is announced on standard error.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from workers.environments.environment import (
    DEFAULT,
    Environment,
    EnvironmentProblemError,
    checked_name,
    inspected_environment,
    own_environment,
)
from workers.environments.register import Register
from workers.spyre.build import DeviceBuildError, ensure_library
from workers.spyre.cache import CacheError, default_cache
from workers.spyre.profile import ProfileError, load_profile

Row = dict[str, str]


def main(arguments: Sequence[str] | None = None) -> int:
    """Entry point; returns the exit code."""
    asked = _parser().parse_args(arguments)
    register = Register(asked.work_dir.expanduser().resolve())
    try:
        answer: object
        match asked.action:
            case "list":
                answer = _list(register, asked.profile)
            case "add":
                cache = asked.cache.expanduser().resolve() if asked.cache else default_cache()
                answer = _add(register, asked.name, asked.place, asked.profile, cache)
            case _:
                register.remove(asked.name)
                answer = {"name": asked.name}
    except (EnvironmentProblemError, DeviceBuildError, CacheError, ProfileError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    sys.stdout.write(json.dumps(answer) + "\n")
    return 0


def _list(register: Register, profile: str) -> list[Row]:
    """The worker's own environment first, then the others by name."""
    try:
        rows = [_row(own_environment(profile))]
    except EnvironmentProblemError as problem:
        rows = [{"name": DEFAULT, "python": sys.executable, "profile": profile, "problem": str(problem)}]
    for found in register.all():
        if found.environment is not None:
            rows.append(_row(found.environment))
        else:
            entry = found.entry
            broken = {"name": entry.name, "python": str(entry.python), "python_version": entry.python_version}
            rows.append({**broken, "profile": entry.profile, "problem": found.problem})
    return [{**_EMPTY, **row} for row in rows]


def _add(register: Register, name: str, place: Path, profile: str, cache: Path) -> Row:
    """Refuse first what is quick to refuse; building the device takes 10 to 20 s. It is built now, so that an
    environment without one is never in the register."""
    environment = inspected_environment(checked_name(name), place, _checked_profile(profile))
    if any(found.entry.name == name for found in register.all()):
        register.add(environment)  # refuses, in its own words
    ensure_library(cache, lambda line: print(line, file=sys.stderr), wheel=environment.wheel)
    register.add(environment)
    return {**_EMPTY, **_row(environment)}


def _checked_profile(profile: str) -> str:
    """A name as it is, a file by its whole path. Raises `ProfileError`."""
    chosen = str(Path(profile).expanduser().resolve()) if profile.endswith(".toml") else profile
    load_profile(chosen)
    return chosen


def _row(environment: Environment) -> Row:
    return {
        "name": environment.name,
        "torch_version": environment.torch.version,
        "torch_git_sha": environment.torch.git_sha,
        "python_version": environment.python_version,
        "profile": environment.profile,
        "python": str(environment.python),
    }


_EMPTY = dict.fromkeys(("name", "torch_version", "torch_git_sha", "python_version", "profile", "python", "problem"), "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m workers.environments.program", description="The named environments of this machine."
    )
    parser.add_argument("--work-dir", type=Path, required=True, help="the workers' folder, which keeps the register")
    actions = parser.add_subparsers(dest="action", required=True)
    show = actions.add_parser("list", help="print all environments")
    show.add_argument("--profile", default="compat", help="the profile of the worker's own environment")
    add = actions.add_parser("add", help="take up an environment")
    add.add_argument("name")
    add.add_argument("place", type=Path, help="a Python, or the folder of a virtual environment")
    add.add_argument("--profile", default="compat", help="the device's rule profile there")
    add.add_argument("--cache", type=Path, help="folder that keeps built device libraries")
    remove = actions.add_parser("remove", help="forget an environment")
    remove.add_argument("name")
    return parser


if __name__ == "__main__":
    sys.exit(main())
