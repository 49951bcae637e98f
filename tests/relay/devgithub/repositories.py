"""A small git repository of the test's own."""

from __future__ import annotations

import subprocess
from pathlib import Path

_AS = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": "/usr/bin:/bin"}


def git(folder: Path, *arguments: str) -> str:
    """One git command, without anybody's configuration."""
    who = ("-c", "user.name=Ada Author", "-c", "user.email=ada@example.org")
    command = ["git", "-C", str(folder), *who, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=_AS).stdout.strip()


def commit(folder: Path, message: str, **files: str | None) -> str:
    """Write files (`a__b` is a/b, a name without suffix gets .txt; None removes) and commit them; the SHA."""
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".txt")
        path.parent.mkdir(exist_ok=True)
        if text is None:
            path.unlink()
        else:
            path.write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "--quiet", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path) -> Path:
    """An empty one on the branch main."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    return folder
