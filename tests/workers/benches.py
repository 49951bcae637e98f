"""A bench whose device is played by a script."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from tests.workers.scripted_runner import ScriptedRunner
from workers.builds.native_build import NativeBuilds
from workers.environments.environment import Environment, own_environment
from workers.runner.types import Installation
from workers.workbench import Bench


def a_bench(
    runner: ScriptedRunner, environments: Sequence[Environment] = (), builds: NativeBuilds | None = None
) -> Bench:
    """With the worker's own environment when there are no others."""
    return Bench(
        environments=lambda: environments or (own_environment("compat"),),
        install=lambda environment: Installation("spyre", Path("/no/library.so"), Path(sys.executable)),
        make_runner=lambda scratch, installation: nullcontext(runner),
        confinement="none: scripted",
        builds=builds,
    )
