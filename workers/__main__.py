"""`python -m workers`: check what this machine needs, then run the Celery worker until it is told to stop.

Owns the checks at start. Every refusal is one clear sentence on standard error and exit code 2.
SIGTERM ends softly: running shards stop at the next test boundary and become due again.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import structlog
from celery.signals import worker_ready

from relay.contract import queue_name
from relay.trail.known_secrets import TRACING_HEADERS
from relay.trail.log_lines import write_log_lines
from relay.trail.redaction import Redactor
from workers.app import bench_of, create_celery, workspace_of
from workers.device_runner import device_library
from workers.environments.environment import EnvironmentProblemError, own_environment
from workers.environments.register import Register
from workers.presence import Presence, describer
from workers.relay_client import RelayClient
from workers.runner.child.confinement import close_memory
from workers.runner.sandbox import Sandbox, SandboxUnavailableError, choose_sandbox
from workers.settings import SECRETS, SettingsError, WorkerSettings, load_settings
from workers.spyre.build import DeviceBuildError
from workers.spyre.cache import CacheError
from workers.spyre.profile import ProfileError, load_profile
from workers.workspace import Workspace

#: Read once; a process started from here (git, tests) must not inherit them.
_SECRETS = ("RELAY_WORKER_TOKEN", "RELAY_BROKER_URL", "RELAY_GIT_PROXY", *TRACING_HEADERS)
#: Where a descriptor that was handed over is a file.
_DESCRIPTORS = "/dev/fd/"
#: A goodbye must not hold up the end for longer.
_PRESENCE_TIMEOUT_S = 3.0


class NotReadyError(Exception):
    """This machine cannot work as a worker; the message says why and what to do."""


def main() -> int:
    """Returns the process's exit code."""
    try:
        settings = load_settings()
        level = logging.getLevelNamesMapping()[settings.log_level]
        write_log_lines(level, Redactor(settings.own_secrets()))
        sandbox = check_sandbox(settings)
        library = check_machine(settings)
    except (SettingsError, NotReadyError) as error:
        print(f"worker: {error}", file=sys.stderr)
        return 2
    forget_secrets()
    log = structlog.get_logger(__name__)
    if sandbox.problem:
        log.warning("the sandbox is not whole", sandbox=sandbox.name, problem=sandbox.problem)
    log.info("worker ready", device=settings.device, relay=settings.url, library=str(library), sandbox=sandbox.name)
    return run_celery(settings)


def forget_secrets() -> None:
    """Leave nothing behind of what was read: neither in the environment, nor a descriptor that a secret was handed over
    by, which others of this user could open. What this process was started with and has in memory stays; the kernel
    keeps it from them."""
    close_memory(closed=True)
    for name in _SECRETS:
        os.environ.pop(name, None)
    for setting in SECRETS:
        file = os.environ.pop(f"RELAY_{setting.upper()}_FILE", "")
        if file.startswith(_DESCRIPTORS):
            os.close(int(file.removeprefix(_DESCRIPTORS)))


def check_sandbox(settings: WorkerSettings) -> Sandbox:
    """What will stand between this machine and the test code.

    Raises:
        NotReadyError: with one sentence, when a sandbox is required and something is missing.
    """
    try:
        return choose_sandbox(settings.sandbox)
    except SandboxUnavailableError as error:
        raise NotReadyError(f"RELAY_SANDBOX=required, but {error}") from error


def check_machine(settings: WorkerSettings) -> Path | None:
    """Everything that can be known before the first shard: git, torch, a writable folder, the
    environments, the device's profile and its library, which the CPU has none of.

    Raises:
        NotReadyError: with one sentence.
    """
    if shutil.which("git") is None:
        raise NotReadyError("git is not installed. Install it: upstream changes are fetched with it.")
    try:
        settings.work_dir.mkdir(parents=True, exist_ok=True)
        Workspace(settings.work_dir, settings.git_timeout_s).remove_leftovers()
        own = own_environment(settings.device_profile)
        Register(settings.work_dir).all()
        load_profile(settings.device_profile)
        return device_library(settings, own.wheel)
    except OSError as error:
        raise NotReadyError(
            f"The work directory cannot be used: {error}. Set RELAY_WORK_DIR to a writable folder."
        ) from error
    except ProfileError as error:
        raise NotReadyError(f"RELAY_DEVICE_PROFILE: {error}") from error
    except (EnvironmentProblemError, DeviceBuildError, CacheError) as error:
        raise NotReadyError(str(error)) from error


def run_celery(settings: WorkerSettings) -> int:
    """Run the worker in this process, with as many pool processes as the settings say. It says to the relay that it is
    there as soon as it can be woken, and goodbye in the end."""
    worker = create_celery(settings).Worker(
        hostname=settings.worker_name,
        pool_cls="prefork",
        concurrency=settings.worker_concurrency,
        queues=[queue_name(settings.queue)],
        loglevel=settings.log_level,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        quiet=True,
    )
    with (
        RelayClient(settings.url, settings.token, timeout_s=_PRESENCE_TIMEOUT_S) as client,
        Presence(client, describer(settings, bench_of(settings), workspace_of(settings))) as presence,
    ):

        def ready(**_: Any) -> None:
            presence.start()

        worker_ready.connect(ready, weak=False)
        worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main())
