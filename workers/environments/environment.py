"""Named environments: the Pythons of this machine, each with a torch of its own, that can answer for a change.

Owns what is known of an environment and how it is found out. torch is never imported: its version and the commit it
was built from are read as text, so that a broken torch is a sentence and not a crash.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError

from workers.runner.sandbox import interpreter_folders
from workers.upstream.overlay import WheelMissingError, installed_wheel

#: The worker's own environment. Always there, never in the register, and preferred where nothing else decides.
DEFAULT = "default"

INSPECT_TIMEOUT_S = 60
_OLDEST_PYTHON = (3, 11)
#: The runner's plug-in needs its wrapper hooks and its collection of folders.
_OLDEST_PYTEST = 8
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,62}")
_FACT = r"^{name}\b[^=\n]*=\s*['\"]([\w.+-]+)['\"]"

# Runs in the environment's Python, without anything of its user's. `find_spec` of a top-level package imports nothing.
_INSPECTION = """
import importlib.metadata, importlib.util, json, sys
def origin(name):
    spec = importlib.util.find_spec(name)
    return spec.origin if spec is not None else None
def version(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
answer = {"version": sys.version_info[:3], "torch": origin("torch"), "pytest": origin("pytest")}
print(json.dumps({**answer, "pytest_version": version("pytest")}))
"""


class _Answer(BaseModel):
    """What the inspection prints."""

    version: tuple[int, int, int]
    torch: str | None
    pytest: str | None
    pytest_version: str = ""


class EnvironmentProblemError(Exception):
    """An environment cannot be used; one sentence with the cause and the next step."""


@dataclass(frozen=True, slots=True)
class Torch:
    """A torch as its `version.py` describes it. `git_sha` is the upstream commit it was built from, or empty."""

    version: str
    git_sha: str

    @property
    def shown(self) -> str:
        return f"{self.version} ({self.git_sha[:12]})" if self.git_sha else self.version


@dataclass(frozen=True, slots=True)
class Environment:
    """Where tests can run. `wheel` is the folder that holds `torch/`; `profile` the device's rule profile there."""

    name: str
    python: Path
    wheel: Path
    python_version: str
    torch: Torch
    profile: str


def checked_name(name: str) -> str:
    """The name, if it can be one. Raises `EnvironmentProblemError`."""
    if name == DEFAULT:
        raise EnvironmentProblemError(f"{DEFAULT!r} is the worker's own environment. Take another name.")
    if not _NAME.fullmatch(name):
        raise EnvironmentProblemError(
            f"{name[:80]!r} cannot be a name. Use up to 63 of a-z, 0-9, '.', '_' and '-', a letter or digit first."
        )
    return name


def own_environment(profile: str) -> Environment:
    """The environment this process runs in. Raises `EnvironmentProblemError`."""
    try:
        wheel = installed_wheel()
    except WheelMissingError as error:
        raise EnvironmentProblemError(str(error)) from error
    torch = read_torch(wheel)
    return Environment(DEFAULT, Path(sys.executable), wheel, platform.python_version(), torch, profile)


def inspected_environment(name: str, place: Path, profile: str) -> Environment:
    """The environment of a Python, or of the virtual environment in a folder, found out by asking that Python.

    Raises:
        EnvironmentProblemError: when it is no Python, too old, or lacks torch or a new enough pytest of its own.
    """
    python = _python_at(place)
    answer = _inspect(python)
    shown = ".".join(map(str, answer.version))
    if answer.version < _OLDEST_PYTHON:
        oldest = ".".join(map(str, _OLDEST_PYTHON))
        raise EnvironmentProblemError(f"{python} is Python {shown}. Use Python {oldest} or newer.")
    if not answer.torch or not answer.pytest:
        package = "pytest" if answer.torch else "torch"
        raise EnvironmentProblemError(
            f"{package} is not installed for {python}. Install it there: {python} -m pip install {package}"
        )
    major = answer.pytest_version.partition(".")[0]
    if major.isdigit() and int(major) < _OLDEST_PYTEST:
        raise EnvironmentProblemError(
            f"pytest {answer.pytest_version} of {python} is too old for the runner. "
            f"Install a newer one there: {python} -m pip install 'pytest>={_OLDEST_PYTEST}'"
        )
    wheel = Path(answer.torch).parent.parent.resolve()
    if not any(wheel.is_relative_to(folder.resolve()) for folder in interpreter_folders(python)):
        raise EnvironmentProblemError(
            f"The torch of {python} lies outside of it, in {wheel}, where sandboxed tests do not see it. "
            f"Install it there: {python} -m pip install --force-reinstall torch"
        )
    return Environment(name, python, wheel, shown, read_torch(wheel), profile)


def read_torch(wheel: Path) -> Torch:
    """What `torch/version.py` says, read as text. Raises `EnvironmentProblemError`."""
    file = wheel / "torch" / "version.py"
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EnvironmentProblemError(f"{file} cannot be read ({error}). Install torch there again.") from error
    version, git_sha = _fact(text, "__version__"), _fact(text, "git_version")
    if not version:
        raise EnvironmentProblemError(f"{file} names no version. Install torch there again.")
    return Torch(version, git_sha if re.fullmatch(r"[0-9a-f]{40}", git_sha) else "")


def _fact(text: str, name: str) -> str:
    found = re.search(_FACT.format(name=re.escape(name)), text, re.MULTILINE)
    return found[1] if found else ""


def _python_at(place: Path) -> Path:
    # Not resolved: the Python of a virtual environment is a link, and is that environment only by its own name.
    python = Path(os.path.abspath(place.expanduser()))
    if python.is_dir():
        python = python / "bin" / "python"
    if not (python.is_file() and os.access(python, os.X_OK)):
        raise EnvironmentProblemError(
            f"There is no Python at {python}. Name a Python, or the folder of a virtual environment."
        )
    return python


def _inspect(python: Path) -> _Answer:
    try:
        done = subprocess.run(
            [python, "-I", "-c", _INSPECTION],
            env={"PATH": os.environ.get("PATH", os.defpath)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
            timeout=INSPECT_TIMEOUT_S,
        )
        return _Answer.model_validate_json(done.stdout.strip().rpartition("\n")[2])
    except ValidationError:
        reason = "it gives no answer of a Python"
    except subprocess.CalledProcessError as error:
        reason = f"it ended with {error.returncode}"
    except subprocess.TimeoutExpired:
        reason = f"no answer within {INSPECT_TIMEOUT_S} s"
    except (OSError, UnicodeDecodeError) as error:
        reason = str(error)
    raise EnvironmentProblemError(f"{python} does not run as a Python: {reason}. Check that program.")
