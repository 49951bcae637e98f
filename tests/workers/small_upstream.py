"""A real git repository with commits made from dictionaries, for tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from relay.contract import Change

_IDENTITY = {
    "GIT_AUTHOR_NAME": "author", "GIT_AUTHOR_EMAIL": "author@example.invalid",
    "GIT_COMMITTER_NAME": "author", "GIT_COMMITTER_EMAIL": "author@example.invalid",
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null",
}  # fmt: skip


@dataclass(frozen=True)
class Upstream:
    """A working repository. Bytes or text is a file's content, None removes it, `Link` makes a symbolic link."""

    path: Path

    def git(self, *arguments: str) -> str:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.path), **_IDENTITY}
        done = subprocess.run(
            ["git", "-C", str(self.path), *arguments], env=environment, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: Mapping[str, str | bytes | Path | None]) -> str:
        """Write (a `Path` value is a symbolic link to it), commit, and return the new commit's id."""
        for name, content in files.items():
            target = self.path / name
            target.unlink(missing_ok=True)
            if content is None:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                target.symlink_to(content)
            else:
                target.write_bytes(content.encode() if isinstance(content, str) else content)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "change")
        return self.git("rev-parse", "HEAD")

    def change(self, base: str, head: str, **fields: str) -> Change:
        values = {"repo": "pytorch/pytorch", "clone_url": str(self.path), "base_sha": base, "head_sha": head} | fields
        return Change.model_validate(values)


def new_upstream(path: Path) -> Upstream:
    path.mkdir(parents=True)
    upstream = Upstream(path)
    upstream.git("init", "--quiet", "--initial-branch=main")
    return upstream
