"""The checks of `relay doctor`. Each looks at one thing, changes nothing, and never shows a password.

torch is looked at through its package data only: importing it takes seconds and loads device plug-ins.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from relay.cli import doctor_text, text
from relay.cli.check import USUAL_S, Check, Look, made
from relay.cli.machine_checks import (
    SELF_TEST_S,
    check_database_clock,
    check_descriptors,
    check_emulator,
    check_github_clock,
    check_room,
    check_tracing,
)
from relay.cli.output import one_line
from relay.cli.outside_checks import check_device, check_github, check_model_answers
from relay.cli.reach_checks import (
    GIT_S,
    check_allowlist,
    check_hud,
    check_proxy,
    check_queue,
    check_rights,
    check_sweep,
    check_upstream,
)
from relay.cli.secret_checks import check_secret_files, check_secrets
from relay.failures import Failure

if TYPE_CHECKING:
    from relay.settings import RelaySettings

#: The torch minor version the emulated device is built for.
TORCH_SERIES = "2.13."
_PROGRAM_S = 10
_BROKER_S = 3
_WORST_FIRST = ("fail", "warn", "ok")
_SANDBOX_S = 30


def run_checks(url: str | None) -> list[Check]:
    """All checks, in the order in which a person would repair things. They are made side by side."""
    from relay.cli.connect import load_settings

    own = [
        Look("python", check_python),
        Look("git", partial(check_program, "git", "fail")),
        Look("g++", partial(check_program, "g++", "warn")),
        Look("torch", check_torch),
        Look("sandbox", check_sandbox, _SANDBOX_S + USUAL_S),
        Look("device", check_device),
        Look("emulator", check_emulator, SELF_TEST_S + USUAL_S),
        Look("descriptors", check_descriptors),
        Look("proxy", check_proxy),
        Look("tracing", check_tracing),
    ]
    try:
        settings = load_settings()
    except Failure as failure:
        broken = Check("settings", "fail", failure.message, failure.hint)
        rest = [look.name for look in _with_settings(None, url)]
        return [*made(own), broken, *(Check(name, "skip", doctor_text.no_settings()) for name in rest)]
    return made([*own, *_with_settings(settings, url)])


def _with_settings(settings: RelaySettings | None, url: str | None) -> list[Look]:
    """The looks that need settings; without them their names count."""
    from relay.cli.worker_checks import check_workers

    looks: list[tuple[str, Callable[[RelaySettings], Check], float]] = [
        ("secrets", check_secrets, USUAL_S),
        ("secret files", check_secret_files, USUAL_S),
        ("state folder", check_state_folder, USUAL_S),
        ("disk", check_room, USUAL_S),
        ("database", check_database, USUAL_S),
        ("database clock", check_database_clock, USUAL_S),
        ("broker", check_broker, USUAL_S),
        ("manifests", check_manifests, USUAL_S),
        ("model", check_model, USUAL_S),
        ("upstream", check_upstream, GIT_S + USUAL_S),
        ("github app", check_github, USUAL_S),
        ("app rights", check_rights, USUAL_S),
        ("github clock", check_github_clock, USUAL_S),
        ("allowlist", check_allowlist, USUAL_S),
        ("hud", check_hud, USUAL_S),
        ("service", partial(check_service, url=url), USUAL_S),
        ("sweep", partial(check_sweep, url=url), USUAL_S),
        ("queue", partial(check_queue, url=url), USUAL_S),
        ("workers", lambda _: check_workers(url), USUAL_S),
    ]
    # Called only where there are settings.
    return [Look(name, partial(work, settings), seconds) for name, work, seconds in looks]  # type: ignore[arg-type] # see above


def check_python() -> Check:
    fits = sys.version_info >= (3, 11)
    return Check("python", "ok" if fits else "fail", platform.python_version(), "" if fits else text.python_hint())


def check_program(name: str, missing: Literal["warn", "fail"]) -> Check:
    path = shutil.which(name)
    if path is None:
        return Check(name, missing, text.not_installed(), text.program_hint(name))
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=_PROGRAM_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check(name, missing, f"{path}: {error}", text.program_hint(name))
    if done.returncode != 0:
        return Check(name, missing, text.program_fails(path, done.returncode), text.program_hint(name))
    return Check(name, "ok", (done.stdout.splitlines() or [path])[0])


def installed_version(package: str) -> str:
    """The version of an installed package, empty when there is none. Nothing is imported."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def check_torch() -> Check:
    version = installed_version("torch")
    if not version:
        return Check("torch", "warn", text.not_installed(), text.torch_hint(TORCH_SERIES))
    if not version.startswith(TORCH_SERIES):
        return Check("torch", "warn", version, text.torch_hint(TORCH_SERIES))
    return Check("torch", "ok", version)


def check_sandbox() -> Check:
    """What this machine's workers put around test code. Their own program looks; it is no room of ours to import."""
    from relay.machine.processes import minimal_environment

    told = {name: os.environ[name] for name in ("RELAY_SANDBOX",) if name in os.environ}
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "workers.runner.sandbox"],
            env=minimal_environment(os.environ, told),
            capture_output=True,
            text=True,
            timeout=_SANDBOX_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        return Check("sandbox", "fail", str(error), text.sandbox_hint())
    if not done.stdout:
        return Check("sandbox", "fail", (done.stderr.splitlines() or [""])[-1], text.sandbox_hint())
    found = json.loads(done.stdout)
    if not found["problem"]:
        return Check("sandbox", "ok", found["sandbox"])
    return Check("sandbox", "fail" if done.returncode != 0 else "warn", found["sandbox"], found["problem"])


def check_state_folder(settings: RelaySettings) -> Check:
    folder = settings.state_dir
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if existing.is_dir() and os.access(existing, os.W_OK):
        return Check("state folder", "ok", str(folder) if existing == folder else text.will_be_made(str(folder)))
    return Check("state folder", "fail", text.not_writable(str(existing)), text.state_folder_hint())


def check_database(settings: RelaySettings) -> Check:
    """Reachable, and at the newest schema. A SQLite file that is not there yet is not made by looking."""
    from sqlalchemy import make_url
    from sqlalchemy.exc import SQLAlchemyError

    from relay.cli.database_schema import schema_of
    from relay.errors import SettingsError
    from relay.store.engine import open_engine

    try:
        url = make_url(settings.database_url)
        shown = url.render_as_string(hide_password=True)
        # Before the engine: opening one makes the folder of the file.
        if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
            return Check("database", "ok", text.will_be_made(shown))
        engine = open_engine(settings.database_url)
    except SettingsError as error:
        return Check("database", "fail", str(error), text.database_hint())
    except SQLAlchemyError:  # its words quote the URL, and with it the password
        return Check("database", "fail", text.unreadable_database_url(), text.database_hint())
    try:
        with engine.connect() as connection:
            current, newest, _ = schema_of(connection)
    except SQLAlchemyError as error:
        return Check("database", "fail", f"{shown}: {text.first_line(error.__cause__ or error)}", text.database_hint())
    finally:
        engine.dispose()
    if current == newest:
        return Check("database", "ok", shown)
    return Check("database", "warn", text.old_schema(shown, current), text.old_schema_hint())


def check_broker(settings: RelaySettings) -> Check:
    from relay.contract import broker_connection

    broker = broker_connection(settings.broker_url)
    if broker.folder is not None:
        found = str(broker.folder) if broker.folder.is_dir() else text.will_be_made(str(broker.folder))
        return Check("broker", "ok", found)
    from celery import Celery
    from kombu.exceptions import KombuError, OperationalError

    connection = Celery("relay-doctor", broker=broker.url, set_as_current=False).connection_for_write()
    shown = str(connection.as_uri())  # without the password
    try:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=_BROKER_S)
    except (KombuError, OperationalError, OSError) as error:
        return Check("broker", "fail", f"{shown}: {type(error).__name__}", text.broker_hint())
    finally:
        connection.release()
    return Check("broker", "ok", shown)


def check_manifests(settings: RelaySettings) -> Check:
    """Those of every backend; what is wrong with one of them comes first."""
    from relay.errors import SettingsError
    from relay.served import served_backends

    try:
        folders = dict.fromkeys(backend.manifest_dir for backend in served_backends(settings))
    except SettingsError as error:
        return Check("manifests", "fail", one_line(str(error), 300))
    checks = sorted((_manifests_in(folder) for folder in folders), key=lambda it: _WORST_FIRST.index(it.status))
    if checks[0].status != "ok":
        return checks[0]
    return Check("manifests", "ok", "; ".join(check.detail for check in checks))


def _manifests_in(folder: Path) -> Check:
    from relay.cli.manifests.folder import read_manifests

    try:
        manifests = read_manifests(folder)
    except Failure as failure:
        return Check("manifests", "fail", failure.message, failure.hint)
    said = text.manifests_found(str(folder), len(manifests.files()))
    if manifests.findings:
        said = f"{said}; {doctor_text.findings(len(manifests.findings), str(manifests.findings[0]))}"
        return Check("manifests", "warn", one_line(said, 300), text.bad_manifests_hint(str(folder)))
    return Check("manifests", "ok", said)


def check_model(settings: RelaySettings) -> Check:
    if not settings.llm_configured:
        return Check("model", "ok", text.offline_ranker())
    if settings.llm_provider == "recorded":
        readable = settings.llm_transcript is not None and settings.llm_transcript.is_file()
        said = f"played back from {settings.llm_transcript}"
        return Check("model", "ok" if readable else "fail", said, "" if readable else text.no_transcript())
    return check_model_answers(settings)


def check_service(settings: RelaySettings, url: str | None) -> Check:
    from relay.cli.connect import find_url
    from relay.client import ApiClient

    address = find_url(settings, url)
    try:
        with ApiClient(address, timeout_s=3.0) as client:
            problem = client.health().manifest_problem
    except Failure as failure:
        return Check("service", "warn", failure.message, failure.hint)
    if problem:
        return Check("service", "warn", text.service_has_old_manifests(address, problem), text.old_manifests_hint())
    return Check("service", "ok", address)
