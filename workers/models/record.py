"""`python -m workers.models.record < CHECK`: what of torch the model of a check uses, for changes to lead to it.

The check is a `ModelCheck` as JSON. One JSON value on standard output; a refusal is one sentence on standard error
after `error: `, and exit code 1. A process of its own, because torch is imported and the model's code runs.
"""

from __future__ import annotations

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version

from workers.runner.child.device import WEIGHTS_VARIABLE

#: As a worker is told it (`workers.settings`).
_WEIGHTS = "RELAY_MODEL_WEIGHTS"
_PACKAGES = ("torch", "transformers")


def main() -> int:
    """Entry point; returns the exit code."""
    check = json.loads(sys.stdin.read())
    try:
        found = _uses(check)
    except Exception as error:  # noqa: BLE001 - a model's code raises what it likes, and that is the answer
        sys.stderr.write(f"error: {_sentence(error)}\n")
        return 1
    named = _PACKAGES if check["transformers"] or check["weights"] else _PACKAGES[:1]
    sys.stdout.write(json.dumps({"recorded_with": ", ".join(_versions(named)), **found}) + "\n")
    return 0


def _uses(check: dict[str, object]) -> dict[str, list[str]]:
    if _WEIGHTS in os.environ:
        os.environ[WEIGHTS_VARIABLE] = os.environ[_WEIGHTS]
    from workers.models.child.uses import uses  # noqa: PLC0415 - without torch that is the answer

    return uses(check)


def _sentence(error: Exception) -> str:
    words = " ".join(str(error).split())[:1_000]
    ours = any(cls.__name__ == "ModelError" for cls in type(error).__mro__)  # its module needs torch
    return words if ours else f"{type(error).__name__}: {words}"


def _versions(packages: tuple[str, ...]) -> list[str]:
    found = []
    for package in packages:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"{package} of unknown version")
    return found


if __name__ == "__main__":
    sys.exit(main())
