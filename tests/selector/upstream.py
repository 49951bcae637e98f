"""Small upstream trees for the selector's tests: in memory, and as real git repositories."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from selector.change import ChangeSet, analyse
from selector.trees import GitTree, git_diff

HEADER = '# Owner(s): ["module: nn"]\n'


class MemoryTree:
    """A tree given as a mapping of path to text."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = dict(files)

    def read(self, path: str) -> str | None:
        return self._files.get(path)

    def paths(self) -> Sequence[str]:
        return sorted(self._files)


class Repository:
    """A git repository under construction. Each commit is given as the files it changes; `None` deletes one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false")
        command = ["git", "-C", str(self.path), *identity, *arguments]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.path), "GIT_CONFIG_NOSYSTEM": "1"}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, files: Mapping[str, str | bytes | None]) -> str:
        for name, content in files.items():
            target = self.path / name
            if content is None:
                target.unlink()
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
        return self.commit_all()

    def commit_all(self) -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", "change")
        return self.git("rev-parse", "HEAD")

    def change(self, base: str, head: str) -> ChangeSet:
        with GitTree(self.path, base) as before, GitTree(self.path, head) as after:
            return analyse(git_diff(self.path, base, head), before, after)


def source_of_class(name: str, *methods: str) -> str:
    """Source of a device-generic test class; each method is `name: body`."""
    lines = [f"class {name}(TestCase):"]
    for method in methods:
        head, _, body = method.partition(":")
        lines += [f"    def {head}(self, device):", f"        {body.strip() or 'pass'}", ""]
    return "\n".join([*lines, f"instantiate_device_type_tests({name}, globals())", ""])
