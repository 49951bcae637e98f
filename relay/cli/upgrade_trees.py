"""The two trees of `relay upgrade`: revisions of a clone, folders, wheels. Nothing of them is executed or imported.

What is there as a file or folder is that; else it is a revision. `wheel:` says that a version or path means a wheel.
"""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from relay.cli import upgrade_text
from relay.cli.environments import environments
from relay.cli.output import Output
from relay.failures import Failure
from selector.change.wheels import WheelArchive, open_wheel
from selector.trees import DirectoryTree, GitTree, SourceTree, TreeError, run_git
from selector.upgrade.types import Origin

_WHEEL = "wheel:"
_TOLD_VERSION = re.compile(r"^(__version__|git_version)\s*=\s*['\"]([\w.+-]{1,100})['\"]", re.MULTILINE)
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ON_GITHUB = re.compile(r"(?:https://github\.com/|(?:ssh://)?git@github\.com[:/])([\w.-]+/[\w.-]+?)(?:\.git)?/?")


class NoTree(Failure):
    """What is to be compared cannot be read, or is no tree of PyTorch."""

    code = "no_tree"


class NothingToCompare(Failure):
    """Two trees that say nothing about an upgrade."""

    code = "nothing_to_compare"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the trees. `name` is what people call it, `identity` is equal for the same tree, `commit` is that of a
    revision, or the one that a wheel says it was built from; else empty."""

    name: str
    tree: SourceTree
    identity: str
    commit: str = ""

    @property
    def has_tests(self) -> bool:
        return any(path.startswith("test/") for path in self.tree.paths())


@dataclass(frozen=True, slots=True)
class Sides:
    """Opens trees, to be closed with the stack. Revisions are those of `repo`."""

    repo: Path
    stack: ExitStack
    out: Output

    def both(self, base: str, head: str) -> tuple[Side, Side]:
        """The older and the newer tree. Raises `NoTree` and `NothingToCompare`."""
        before, after = self._open("--from", base), self._open("--to", head)
        if before.identity == after.identity:
            raise NothingToCompare(upgrade_text.same_tree(before.name), upgrade_text.same_tree_hint())
        if before.has_tests != after.has_tests:
            those = (before.name, after.name) if before.has_tests else (after.name, before.name)
            raise NothingToCompare(upgrade_text.tests_on_one_side(*those), upgrade_text.tests_on_one_side_hint())
        return before, after

    def _open(self, option: str, given: str) -> Side:
        path = Path(given.removeprefix(_WHEEL)).expanduser()
        try:
            if given.startswith(_WHEEL):
                return self._wheel(path if path.exists() else _installed(given.removeprefix(_WHEEL), self.out), given)
            if path.suffix == ".whl" and path.is_file():
                return self._wheel(path, path.name)
            if path.is_dir():
                return self._folder(option, given, path.resolve())
        except TreeError as error:
            raise NoTree(str(error), upgrade_text.no_tree_hint()) from error
        return self._revision(option, given)

    def _wheel(self, path: Path, name: str) -> Side:
        """Called by its version, where it says one."""
        tree = open_wheel(path)
        if isinstance(tree, WheelArchive):
            self.stack.enter_context(tree)
        told = dict(_TOLD_VERSION.findall(tree.read("torch/version.py") or ""))
        commit = told.get("git_version", "")
        return Side(
            told.get("__version__") or name, tree, str(path.resolve()), commit if _COMMIT.fullmatch(commit) else ""
        )

    def _folder(self, option: str, given: str, path: Path) -> Side:
        if (path / "test").is_dir():
            return Side(given, DirectoryTree(path), str(path))
        if not (path / "torch").is_dir():
            raise NoTree(upgrade_text.no_tree(option, given), upgrade_text.no_tree_hint())
        return self._wheel(path, given)

    def _revision(self, option: str, given: str) -> Side:
        try:
            wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{given}^{{commit}}")
            commit = run_git(self.repo, *wanted).decode().strip()
            tree = self.stack.enter_context(GitTree(self.repo, commit))
        except (TreeError, ValueError) as error:  # ValueError: a NUL byte
            message = upgrade_text.no_such_side(option, given, str(self.repo.absolute()))
            raise NoTree(message, upgrade_text.no_such_side_hint()) from error
        if not any(path.startswith(("test/", "torch/")) for path in tree.paths()):
            raise NoTree(upgrade_text.no_tree(option, given), upgrade_text.no_tree_hint())
        return Side(given, tree, commit, commit)


def origin_of(base: Side, head: Side, repo: Path, upstream: str) -> Origin:
    """Where both trees can be read on the web: nowhere, unless both have a commit. Wheels say which of upstream's they
    were built from, whatever clone the command was called in."""
    if not (base.commit and head.commit):
        return Origin()
    of_clone = base.identity == base.commit and head.identity == head.commit
    address = web_address(repo, upstream) if of_clone else f"https://github.com/{upstream}"
    return Origin(address, base.commit, head.commit)


def web_address(repo: Path, upstream: str) -> str:
    """Where the clone's revisions can be read: its origin on GitHub, else the upstream repository of the settings."""
    try:
        told = run_git(repo, "remote", "get-url", "origin").decode(errors="replace").strip()
    except TreeError:
        told = ""
    found = _ON_GITHUB.fullmatch(told)
    return f"https://github.com/{found[1] if found else upstream}"


def _installed(version: str, out: Output) -> Path:
    """The folder of packages of the environment that has this torch. Raises `NoTree`."""
    found = {row["torch_version"]: row for row in environments(out)}
    for known, row in found.items():
        if version in (known, known.partition("+")[0]):
            minor = ".".join(row["python_version"].split(".")[:2])
            return Path(row["python"]).parent.parent / "lib" / f"python{minor}" / "site-packages"
    raise NoTree(upgrade_text.no_installed_torch(version, found), upgrade_text.no_installed_torch_hint())
