"""The change `relay select` looks at: two commits of a checkout, or a commit and a diff.

A diff becomes a tree of its own by `git apply --cached` into a throw-away index: the working tree and the user's index
are not touched, and nothing but unreferenced git objects is left behind. Nothing of the checkout is executed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import typer

from relay.cli import text
from relay.failures import Failure
from selector.trees import TreeError, git_diff

_GIT_S = 300


class NoChange(Failure):
    """The change cannot be read: no checkout, no such revision, or a diff that does not fit."""

    code = "no_change"


@dataclass(frozen=True, slots=True)
class LocalChange:
    """A unified diff, and the two git trees (names or ids) it leads between."""

    repo: Path
    base: str
    head: str
    diff: str


def read_change(repo: Path, base: str | None, head: str | None, diff: str | None) -> LocalChange:
    """The change the options name. Raises `NoChange`, or a usage error when the options do not go together."""
    if diff is not None and head is not None:
        raise typer.BadParameter(text.not_both_head_and_diff(), param_hint="--diff")
    if diff is None and base is None:
        raise typer.BadParameter(text.choose_a_change(), param_hint="--base")
    root = _checkout(repo)
    base_id = _commit(root, base or "HEAD")
    if diff is None:
        head_id = _commit(root, head or "HEAD")
        return LocalChange(root, base_id, head_id, _diff(root, base_id, head_id))
    patch = _read_diff(diff)
    return LocalChange(root, base_id, _applied(root, base_id, base or "HEAD", patch), patch.decode(errors="replace"))


def _checkout(repo: Path) -> Path:
    """The root of the checkout that `repo` is in; a bare repository will do, since nothing is read but git objects."""
    if repo.is_dir():
        top = _git(repo, "rev-parse", "--show-toplevel")
        if top.returncode == 0:
            return Path(os.fsdecode(top.stdout.removesuffix(b"\n")))
        if _git(repo, "rev-parse", "--is-bare-repository").stdout.strip() == b"true":
            return repo.absolute()
    raise NoChange(text.not_a_checkout(str(repo.absolute())), text.not_a_checkout_hint())


def _commit(root: Path, revision: str) -> str:
    done = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if done.returncode != 0:
        raise NoChange(text.unknown_revision(revision, str(root)), text.unknown_revision_hint())
    return done.stdout.decode().strip()


def _diff(root: Path, base_id: str, head_id: str) -> str:
    try:
        return git_diff(root, base_id, head_id)
    except TreeError as error:
        raise NoChange(str(error)) from error


def _read_diff(source: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if source == "-" else Path(source).read_bytes()
    except OSError as error:
        raise NoChange(
            text.diff_not_readable(source, error.strerror or str(error)), text.diff_not_readable_hint()
        ) from error


def _applied(root: Path, base_id: str, base_name: str, patch: bytes) -> str:
    """The id of the base tree with the diff applied."""
    with tempfile.TemporaryDirectory(prefix="relay-select-") as folder:
        index = str(Path(folder) / "index")
        _git(root, "read-tree", base_id, index=index)
        if patch.strip():
            done = _git(root, "apply", "--cached", "--whitespace=nowarn", "-", index=index, stdin=patch)
            if done.returncode != 0:
                first = (done.stderr.decode(errors="replace").splitlines() or ["git apply failed"])[0]
                cause = first.removeprefix("error: ")
                raise NoChange(text.diff_does_not_apply(base_name, cause), text.diff_does_not_apply_hint())
        return _git(root, "write-tree", index=index).stdout.decode().strip()


def _git(
    folder: Path, *arguments: str, index: str | None = None, stdin: bytes = b""
) -> subprocess.CompletedProcess[bytes]:
    """git without the user's hooks and prompts. A missing git is told apart from a git that says no."""
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0"}
    if index is not None:
        environment["GIT_INDEX_FILE"] = index
    try:
        return subprocess.run(
            ["git", "-C", str(folder), *arguments],
            input=stdin,
            capture_output=True,
            env=environment,
            timeout=_GIT_S,
            check=False,
        )
    except FileNotFoundError as error:
        raise NoChange(text.no_git(), text.no_git_hint()) from error
