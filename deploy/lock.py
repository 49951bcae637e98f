"""Print the installed versions as pip constraints: names and versions, no places.

The project itself and torch are left out: torch is pinned in pyproject.toml, and its CPU build has a local version.
"""

from __future__ import annotations

from importlib.metadata import distributions

LEFT_OUT = {"oot-relay", "torch", "pip", "setuptools"}


def main() -> None:
    found = {(dist.metadata["Name"].lower().replace("_", "-"), dist.version) for dist in distributions()}
    print("# Versions this project is tested with. Written by `make lock`.")
    for name, version in sorted(found):
        if name not in LEFT_OUT:
            print(f"{name}=={version}")


if __name__ == "__main__":
    main()
