"""Warn before pip fetches a large torch. Standard library and pip; runs inside the fresh virtual environment."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

# Wheel sizes of torch 2.13.0 with what it pulls in, rounded, as installed on x86-64 Linux.
CPU_MB, CUDA_MB = 200, 3_000


def pinned_torch() -> str:
    """The `torch==...` requirement of the emulator extra."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    extra = project["project"]["optional-dependencies"]["emulator"]
    return next(requirement for requirement in extra if requirement.startswith("torch=="))


def installed(requirement: str) -> bool:
    try:
        return version("torch").split("+")[0] == requirement.removeprefix("torch==")
    except PackageNotFoundError:
        return False


def chosen_packages(requirement: str) -> set[str]:
    """What pip would install for the requirement, from its own dry run; empty when pip could not tell."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet", "--ignore-installed", "--report", "-"]
    done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if done.returncode:
        return set()
    return {item["metadata"]["name"].lower() for item in json.loads(done.stdout)["install"]}


def main() -> None:
    requirement = pinned_torch()
    if installed(requirement):
        return
    packages = chosen_packages(requirement)
    if any(name.startswith(("nvidia-", "cuda-", "triton")) for name in packages):
        print(
            f"Warning: pip chooses the CUDA build of {requirement}: about {CUDA_MB:,} MB to download. The emulator\n"
            "needs the CPU build only. Stop now (Ctrl-C) and set PIP_EXTRA_INDEX_URL to PyTorch's CPU wheel index to\n"
            f"get it (about {CPU_MB} MB); README.md, 'The CPU build of torch', says how.",
            file=sys.stderr,
        )
    else:
        print(f"{requirement}: the CPU build, about {CPU_MB} MB.", file=sys.stderr)


if __name__ == "__main__":
    main()
