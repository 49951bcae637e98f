"""Write down what this project is tested with, from what is installed here: names, versions and hashes, no places.

`constraints.txt` has every version, for whoever installs by hand with the index pip has. `locked/` has what the images
install, for each file of those versions the SHA-256 that the public index publishes, so that an index, a cache or a
proxy between cannot put in another file. torch has a version only: its CPU build comes from an index of its own.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import requires, version
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT, TORCH = "oot-relay", "torch"
#: torch is pinned in pyproject.toml, and its CPU build has a local version. The others bring no code into anything.
UNCONSTRAINED = {TORCH, "pip", "setuptools", "uv"}
DEPLOY = Path(__file__).parent
VERSIONS = "# Versions this project is tested with. Written by `make lock`.\n"
HASHES = "# What an image installs. Written by `make lock`.\n"


def needed_by(*requirements: Requirement) -> set[str]:
    """The packages that are required, and what these need in turn here."""
    seen: set[tuple[str, str]] = set()
    waiting = list(requirements)
    while waiting:
        wanted = waiting.pop()
        for extra in ("", *wanted.extras):
            if (canonicalize_name(wanted.name), extra) in seen:
                continue
            seen.add((canonicalize_name(wanted.name), extra))
            needs = map(Requirement, requires(wanted.name) or ())
            waiting += [need for need in needs if need.marker is None or need.marker.evaluate({"extra": extra})]
    return {found for found, _ in seen} - {PROJECT}


def needed_in_all() -> set[str]:
    """What the project needs with everything that goes with it: extras, and the tools of its groups."""
    written = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))
    extras = ",".join(written["project"]["optional-dependencies"])
    tools = [tool for group in written["dependency-groups"].values() for tool in group]
    return needed_by(*map(Requirement, [f"{PROJECT}[{extras}]", *tools]))


def pins(names: Iterable[str]) -> str:
    return "".join(f"{name}=={version(name)}\n" for name in sorted(names))


def hashed(pinned: str) -> str:
    """The same requirements, each with the hashes of all its files."""
    command = [Path(sys.executable).with_name("uv"), "pip", "compile", "--quiet", "--no-deps", "--generate-hashes"]
    plain = ["--no-header", "--no-annotate", "--no-emit-index-url", "--system-certs", "-"]
    done = subprocess.run([*command, *plain], input=pinned, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"uv cannot tell the hashes:\n{done.stderr}")
    return done.stdout


def main() -> None:
    # Whoever runs an image cannot add to it, and what sends spans is not imported until somebody wants them.
    relay = needed_by(Requirement(f"{PROJECT}[tracing]"))
    worker, wheel = (needed_by(Requirement(name)) for name in (f"{PROJECT}[emulator]", "hatchling"))
    texts = {
        "constraints.txt": VERSIONS + pins(needed_in_all() - UNCONSTRAINED),
        "locked/relay.txt": HASHES + hashed(pins(relay)),
        "locked/worker.txt": HASHES + hashed(pins(worker - relay - {TORCH})),
        "locked/wheel.txt": HASHES + hashed(pins(wheel)),
        "locked/torch.txt": f"{TORCH}=={version(TORCH).partition('+')[0]}\n",
    }
    for name, text in texts.items():
        (DEPLOY / name).parent.mkdir(exist_ok=True)
        (DEPLOY / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
