"""The register of a machine's named environments: one small JSON file in the work directory.

Owns the file, its lock and its form. What an environment's torch is gets read anew every time, so that an upgrade in it
is seen; one that cannot be used any more is kept and said to be broken.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from workers.environments.environment import Environment, EnvironmentProblemError, checked_name, read_torch


class Entry(BaseModel):
    """What is kept of an environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    python: Path
    wheel: Path
    python_version: str
    profile: str


class _Register(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    environments: tuple[Entry, ...] = ()


@dataclass(frozen=True, slots=True)
class Registered:
    """An entry with what stands there now: the environment, or why it cannot be used."""

    entry: Entry
    environment: Environment | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Register:
    """The environments of the workers that share a work directory. Safe for several processes at once."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "environments.json"

    def all(self) -> tuple[Registered, ...]:
        """Every environment, by name. Raises `EnvironmentProblemError` when the file cannot be read."""
        return tuple(_registered(entry) for entry in self._entries())

    def usable(self) -> tuple[Environment, ...]:
        """The environments that can be used now, by name. Raises `EnvironmentProblemError` as `all` does."""
        return tuple(found.environment for found in self.all() if found.environment is not None)

    def add(self, environment: Environment) -> None:
        """Raises `EnvironmentProblemError` for a name that is taken, or cannot be one."""
        entry = Entry(
            name=checked_name(environment.name),
            python=environment.python,
            wheel=environment.wheel,
            python_version=environment.python_version,
            profile=environment.profile,
        )
        with self._locked():
            entries = self._entries()
            if any(known.name == entry.name for known in entries):
                raise EnvironmentProblemError(
                    f"There is an environment {entry.name!r} already. Remove it first: relay env remove {entry.name}"
                )
            self._write((*entries, entry))

    def remove(self, name: str) -> None:
        """Forget an environment; nothing of it is deleted. Raises `EnvironmentProblemError` for an unknown name."""
        with self._locked():
            entries = self._entries()
            left = tuple(entry for entry in entries if entry.name != name)
            if len(left) == len(entries):
                raise EnvironmentProblemError(f"There is no environment {name[:80]!r}. See them: relay env list")
            self._write(left)

    def _entries(self) -> tuple[Entry, ...]:
        try:
            text = self.file.read_text(encoding="utf-8")
            register = _Register.model_validate_json(text)
        except FileNotFoundError:
            return ()
        except (OSError, UnicodeDecodeError, ValidationError) as error:
            raise EnvironmentProblemError(
                f"{self.file} cannot be read ({type(error).__name__}). Remove it and add the environments again."
            ) from error
        return tuple(sorted(register.environments, key=lambda entry: entry.name))

    def _write(self, entries: tuple[Entry, ...]) -> None:
        part = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        text = json.dumps(_Register(environments=entries).model_dump(mode="json"), indent=2)
        part.write_text(text + "\n", encoding="utf-8")
        part.replace(self.file)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with (self.folder / "environments.lock").open("a") as handle:
                fcntl.flock(handle, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise EnvironmentProblemError(
                f"The work directory {self.folder} cannot be used ({error}). Set RELAY_WORK_DIR to a writable folder."
            ) from error


def _registered(entry: Entry) -> Registered:
    if not os.access(entry.python, os.X_OK):
        return Registered(entry, None, f"{entry.python} is gone. Remove the environment, or make it again.")
    try:
        torch = read_torch(entry.wheel)
    except EnvironmentProblemError as problem:
        return Registered(entry, None, str(problem))
    environment = Environment(entry.name, entry.python, entry.wheel, entry.python_version, torch, entry.profile)
    return Registered(entry, environment)
