"""How worker processes of this machine are started: their command, their environment, and what must be in place.

Workers are another room and are never imported: they are known by `python -m workers` and by the names of their
settings. A worker runs untrusted upstream code, so it is told where things are and never handed a secret's value.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from relay.contract import BrokerConnection, backend_files
from relay.machine.processes import ChildSpec, minimal_environment
from relay.machine.state_folder import write_private
from relay.settings import SECRET_FILES, RelaySettings
from relay.trail.known_secrets import in_address

NOTHING_HANDED: Mapping[str, int] = {}
COMMAND = (sys.executable, "-m", "workers")
_BROKER, _GIT_PROXY = "RELAY_BROKER_URL", "RELAY_GIT_PROXY"

#: What says which device a worker is for.
_BACKEND, _DEVICE, _PROFILE = "RELAY_BACKEND", "RELAY_DEVICE", "RELAY_DEVICE_PROFILE"
#: Settings of the workers that an operator may give to the program that starts them. None of them is a secret.
_TUNING = (
    _BACKEND,
    "RELAY_WORKER_NAME",
    "RELAY_WORKER_CONCURRENCY",
    "RELAY_DEVICE_CACHE",
    _PROFILE,
    "RELAY_BUILD_COMMAND",
    "RELAY_BUILD_TIMEOUT_S",
    "RELAY_BUILD_CACHE_BYTES",
    "RELAY_FUNCTION_MAP",
    "RELAY_MODEL_WEIGHTS",
    "RELAY_LLM_TRANSCRIPT",
    "RELAY_LOG_LEVEL",
    "RELAY_MANIFEST_PROFILE",
    "RELAY_SANDBOX",
    "RELAY_GIT_PROXY",
    "RELAY_GIT_PROXY_FILE",
    "RELAY_GIT_TIMEOUT_S",
    "RELAY_TEST_TIMEOUT_S",
    "RELAY_FILE_TIMEOUT_S",
    "RELAY_COLLECT_TIMEOUT_S",
)


def worker_environment(
    settings: RelaySettings,
    url: str,
    token_file: Path,
    parent: Mapping[str, str],
    handed: Mapping[str, int] = NOTHING_HANDED,
) -> dict[str, str]:
    """The whole environment of a worker: the harmless part of `parent`, the parent's tuning, and where things are.
    `handed` are those of `handed_addresses`."""
    tuning = {name: parent[name] for name in _TUNING if name in parent}
    # Where spans go, and no key for it: whoever runs beside a worker could read its environment.
    tuning |= {name: text for name, text in parent.items() if name.startswith("OTEL_") and "HEADERS" not in name}
    own = {
        "RELAY_URL": url,
        _BROKER: settings.broker_url,
        "RELAY_WORKER_TOKEN_FILE": str(token_file),
        _DEVICE: parent.get(_DEVICE, "") if parent.get(_BACKEND) else settings.device,
        "RELAY_WORK_DIR": parent.get("RELAY_WORK_DIR") or str(settings.state_dir / "work"),
        "PYTHONUNBUFFERED": "1",
    }
    told = {name: value for name, value in (tuning | own).items() if value and name not in handed}
    return minimal_environment(parent, told | {f"{name}_FILE": f"/dev/fd/{held}" for name, held in handed.items()})


@contextmanager
def handed_addresses(settings: RelaySettings, parent: Mapping[str, str]) -> Iterator[Mapping[str, int]]:
    """The addresses for a worker that hold a login, by variable, each in a file without a name: an environment can be
    read by whoever runs as the same user, for as long as the process is there."""
    addresses = {_BROKER: settings.broker_url, _GIT_PROXY: parent.get(_GIT_PROXY, "")}
    with ExitStack() as held:
        yield {name: held.enter_context(_nameless(text)) for name, text in addresses.items() if any(in_address(text))}


@contextmanager
def _nameless(text: str) -> Iterator[int]:
    descriptor = os.memfd_create("relay-address")
    try:
        os.write(descriptor, text.encode())
        yield descriptor
    finally:
        os.close(descriptor)


def worker_specs(
    settings: RelaySettings, url: str, count: int, handed: Mapping[str, int] = NOTHING_HANDED
) -> tuple[ChildSpec, ...]:
    """The worker processes of this machine, `count` for each backend, with one log file each. They share the work
    directory, which locks."""
    token_file = ensure_token_file(settings)
    backends = [worker_environment(settings, url, token_file, parent, handed) for parent in _parents(settings)]
    return tuple(
        ChildSpec(
            f"worker {number}",
            COMMAND,
            environment,
            settings.state_dir / "logs" / f"worker-{number}.log",
            passed=tuple(handed.values()),
        )
        for number, environment in enumerate((each for each in backends for _ in range(count)), start=1)
    )


def _parents(settings: RelaySettings) -> Iterator[Mapping[str, str]]:
    """This process's environment as each backend's workers are to have it. Several of one name could not be told
    apart."""
    ours = {name: value for name, value in os.environ.items() if name != "RELAY_WORKER_NAME"}
    files = backend_files(settings.backend_places)
    if not files:
        yield ours
    for file in files:
        yield {name: value for name, value in ours.items() if name not in (_DEVICE, _PROFILE)} | {_BACKEND: str(file)}


def ensure_token_file(settings: RelaySettings) -> Path:
    """A file with the worker token, readable by this user only: the one the state folder keeps, or, when the token was
    given as a setting, one written for the workers of this machine."""
    kept = settings.state_dir / SECRET_FILES["worker_token"]
    token = settings.worker_token.get_secret_value() if settings.worker_token else ""
    if not token or (kept.exists() and kept.read_text(encoding="utf-8").strip() == token):
        return kept
    given = settings.state_dir / "worker-token.given"
    given.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # a machine with a worker alone has none yet
    write_private(given, token + "\n")
    return given


def ensure_broker_folder(broker: BrokerConnection) -> None:
    """Make the folders of a file-system broker. Both the service and its workers fail on a missing one."""
    if broker.folder is not None:
        for folder in {broker.folder, *map(Path, broker.transport_options.values())}:
            folder.mkdir(parents=True, exist_ok=True)
