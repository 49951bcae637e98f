"""The demo's upstream repository: PyTorch's own Python files from the installed wheel, and a test tree of ours.

The change under test is a plausible clean-up of a real composite function, `torch.unravel_index`: it builds two small
constants without naming the device of its input. On CPU nothing changes. On any other device the function now mixes
two devices and raises, which is the commonest way an upstream change breaks an out-of-tree backend.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from relay.failures import Failure

TITLE = "Simplify the constants of torch.unravel_index"
BODY = (
    "`_unravel_index` names the device and the dtype of two constants in four places. "
    "Both follow from type promotion, so this names the dtype only.\n\nAlso says so in the documentation notes."
)
CHANGED_FUNCTION = "torch/functional.py"

_EDITS: Mapping[str, tuple[tuple[str, str], ...]] = {
    CHANGED_FUNCTION: (
        ("torch.tensor(coefs, device=indices.device, dtype=torch.int64)", "torch.tensor(coefs, dtype=torch.int64)"),
        ("torch.tensor(shape, device=indices.device, dtype=torch.int64)", "torch.tensor(shape, dtype=torch.int64)"),
    ),
    # A comment only: stage 1 must see that this file cannot matter.
    "torch/nn/init.py": (("import math\n", "import math  # gains and bounds\n"),),
}
_NOTE = "docs/source/notes/unravel_index.rst"
_NOTE_TEXT = "torch.unravel_index\n===================\n\nThe coordinates are of the integer type of the indices.\n"


@dataclass(frozen=True, slots=True)
class UpstreamChange:
    """A repository on this machine and the two commits whose difference is tested."""

    repository: Path
    base_sha: str
    head_sha: str
    title: str
    body: str


def prepare_demo_repository(folder: Path) -> UpstreamChange:
    """Make the demo repository in `folder`, which is replaced.

    Raises `Failure` when git is missing, torch is not installed, or the wheel is not the version the edits are for.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    shutil.copytree(Path(__file__).parent / "upstream", folder, dirs_exist_ok=True)
    _copy_python_files(_torch_folder(), folder / "torch")
    base = _commit(folder, "Base of the demo: the Python files of the installed wheel")
    for path, edits in _EDITS.items():
        _edit(folder / path, edits)
    (folder / _NOTE).parent.mkdir(parents=True)
    (folder / _NOTE).write_text(_NOTE_TEXT)
    head = _commit(folder, f"{TITLE}\n\n{BODY}")
    return UpstreamChange(folder, base, head, TITLE, BODY)


def existing_change(repository: Path, base: str, head: str) -> UpstreamChange:
    """A change of a checkout that is already here, for `relay demo --upstream`.

    Raises `Failure` when the folder is no git repository or a revision is unknown in it.
    """
    if not repository.is_dir():
        raise Failure(f"{repository} is not a folder", hint="give --upstream the path of a PyTorch git checkout")
    base_sha, head_sha = (_resolve(repository, revision) for revision in (base, head))
    title = _git(repository, "log", "-1", "--format=%s", head_sha).strip()
    body = _git(repository, "log", "-1", "--format=%b", head_sha).strip()
    return UpstreamChange(repository.resolve(), base_sha, head_sha, title, body)


def _resolve(repository: Path, revision: str) -> str:
    try:
        return _git(
            repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"
        ).strip()
    except Failure as error:
        raise Failure(
            f"{revision!r} names no commit in {repository}", hint=f"see `git -C {repository} log --oneline`"
        ) from error


def _torch_folder() -> Path:
    # find_spec, not import: this process stays small and free of torch.
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        raise Failure(
            "torch is not installed in this environment", hint="install the extra: pip install 'oot-relay[emulator]'"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _copy_python_files(source: Path, target: Path) -> None:
    for path in source.rglob("*.py"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _edit(path: Path, edits: tuple[tuple[str, str], ...]) -> None:
    text = path.read_text()
    for old, new in edits:
        if old not in text:
            raise Failure(
                f"the installed torch is not the version the demo is written for: {path.name} has no {old!r}",
                hint="install torch==2.13.0, or show your own change with --upstream",
            )
        text = text.replace(old, new, 1)
    path.write_text(text)


def _commit(folder: Path, message: str) -> str:
    _git(folder, "add", "--all", "--force")
    _git(folder, "commit", "--quiet", "--message", message)
    return _git(folder, "rev-parse", "HEAD").strip()


def _git(folder: Path, *arguments: str) -> str:
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", "Relay demo"), ("EMAIL", "demo@relay.invalid"))
    }
    # The person's own git configuration (signing, hooks, templates) has no say in a throw-away repository.
    isolation = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
    path = {"PATH": os.environ.get("PATH", os.defpath)}
    try:
        done = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", str(folder), *arguments],
            env={**path, **identity, **isolation},
            capture_output=True,
            text=True,
            check=True,
        )
    except FileNotFoundError as error:
        raise Failure("git is not installed", hint="install it, for example: apt install git") from error
    except subprocess.CalledProcessError as error:
        raise Failure(f"git {arguments[0]} failed in {folder}: {error.stderr.strip()[-500:]}") from error
    return done.stdout
