"""The Celery application of a worker: one task that wakes it, one queue per device, and no state.

Composition root of the worker service. A message carries no work, so a lost, doubled or late one does not matter;
work is leased from the relay over HTTP. Therefore: early acknowledgement, no result backend, JSON only, and no remote
control, which would let anybody who reaches the broker command the worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import structlog
from celery import Celery
from celery.signals import worker_process_shutdown, worker_shutting_down

from relay.contract import SHORT_CAP, WAKE_TASK, LeaseRequest, TriageSettings, broker_connection, queue_name
from relay.trail.redaction import Redactor
from relay.trail.tracing import TracingUnavailableError, start_tracing, stop_tracing
from selector.triage import LlmClient
from workers.builds.build_process import parsed_command
from workers.builds.native_build import NativeBuilds
from workers.device_runner import device_installer, runner_factory
from workers.environments.environment import Environment, own_environment
from workers.environments.register import Register
from workers.relay_client import RelayClient
from workers.runner.sandbox import SandboxLimits, choose_sandbox
from workers.session import Session
from workers.settings import WorkerSettings
from workers.shards.report import capped
from workers.shutdown import ShutdownFlag
from workers.triage_client import triage_client
from workers.waking import awake_in_the_pool, is_redis, patience
from workers.workbench import Bench
from workers.workspace import Workspace

log = structlog.get_logger(__name__)

#: Compilers need more than tests do: of processes, of memory, and of room for what is made on the way.
BUILD_LIMITS = SandboxLimits(
    processes=4096, file_bytes=32 << 30, address_space_bytes=256 << 30, temporary_bytes=16 << 30
)


def create_celery(settings: WorkerSettings) -> Celery:
    """The worker's Celery application. Creates the folders of a file-system broker, and connects to nothing yet."""
    connection = broker_connection(settings.broker_url.get_secret_value())
    for folder in connection.transport_options.values() if connection.folder else ():
        Path(folder).mkdir(parents=True, exist_ok=True)
    app = Celery("workers", broker=connection.url, set_as_current=False)
    app.conf.update(
        broker_transport_options=connection.transport_options | patience(connection.url),
        broker_connection_retry_on_startup=True,
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=False,
        task_default_queue=queue_name(settings.queue),
        worker_prefetch_multiplier=1,
        # Only Redis can: elsewhere one message stays reserved, which costs a wake-up at most.
        worker_disable_prefetch=is_redis(connection.url),
        worker_enable_remote_control=False,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
    )
    shutdown = _shutdown_flag()

    def work() -> int:
        # In the process that works: the thread that sends spans does not outlive a fork.
        try:
            start_tracing("oot-relay-worker", Redactor(settings.own_secrets()))
        except TracingUnavailableError as error:
            log.warning("no spans", problem=str(error))
        return work_until_idle(settings, shutdown)

    awake = awake_in_the_pool(work)

    def wake() -> None:
        log.info("woken", shards=awake.woken())

    worker_process_shutdown.connect(_send_last_spans)
    app.task(name=WAKE_TASK, shared=False)(wake)  # shared ones appear in every application of the process
    return app


def _send_last_spans(**_: Any) -> None:
    stop_tracing()


def work_until_idle(settings: WorkerSettings, shutdown: ShutdownFlag) -> int:
    """One wake-up: lease and do shards until none is due. Returns how many were taken."""

    def model(triage: TriageSettings) -> LlmClient:
        return triage_client(triage, settings.url, settings.token, settings.llm_transcript)

    bench = bench_of(settings)
    with RelayClient(settings.url, settings.token) as client:
        session = Session(
            client=client,
            workspace=workspace_of(settings),
            identity=LeaseRequest(
                worker=settings.worker_name, device=settings.device, sandbox=capped(bench.confinement, SHORT_CAP)
            ),
            bench=bench,
            make_llm=model,
            shutting_down=shutdown.is_set,
            manifest_profile=settings.manifest_profile,
            function_map=settings.function_map,
            redact=Redactor(settings.own_secrets()),
        )
        return session.run()


def workspace_of(settings: WorkerSettings) -> Workspace:
    """The folders of this machine, and how git fills them."""
    return Workspace(settings.work_dir, settings.git_timeout_s, settings.proxy_of_git)


def bench_of(settings: WorkerSettings) -> Bench:
    """What shards are tested with. Raises `SandboxUnavailableError` when a sandbox is required and cannot be had."""
    sandbox = choose_sandbox(settings.sandbox)
    register = Register(settings.work_dir)

    def environments() -> Sequence[Environment]:
        return own_environment(settings.device_profile), *register.usable()

    return Bench(
        environments=environments,
        install=device_installer(settings),
        make_runner=runner_factory(settings, sandbox),
        confinement=f"{sandbox.name}: {sandbox.problem}" if sandbox.problem else sandbox.name,
        confined=sandbox.keeps_files,
        builds=_native_builds(settings),
    )


def _native_builds(settings: WorkerSettings) -> NativeBuilds | None:
    if settings.build_command is None:
        return None
    return NativeBuilds(
        folder=settings.work_dir / "builds",
        command=parsed_command(settings.build_command),
        sandbox=choose_sandbox(settings.sandbox, BUILD_LIMITS),
        timeout_s=settings.build_timeout_s,
        limit_bytes=settings.build_cache_bytes,
    )


def _shutdown_flag() -> ShutdownFlag:
    """Set once the worker of this process is asked to end (SIGTERM, SIGINT)."""
    flag = ShutdownFlag()

    def stop(**_: Any) -> None:
        flag.set()

    worker_shutting_down.connect(stop, weak=False)
    return flag
