"""What `relay doctor` measures of this machine: room, descriptors, its clock against others', the device at work."""

from __future__ import annotations

import json
import os
import resource
import shutil
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal

from relay.cli import doctor_text as text
from relay.cli.check import Check
from relay.cli.output import one_line

if TYPE_CHECKING:
    from relay.settings import RelaySettings

_GIB = 1 << 30
#: GiB: what a day of runs may take, and what the record needs to go on at all.
_LITTLE_ROOM, _NO_ROOM = 2.0, 0.2
_FEW_FILES, _TOO_FEW_FILES = 1024, 256
#: Seconds. A header has whole seconds; leases last some thirty.
_CLOCKS_AGREE, _CLOCKS_DISAGREE = 5.0, 30.0
_WAIT_S = 5.0
#: A machine that imports torch for the first time reads a gigabyte.
SELF_TEST_S = 120.0


def check_room(settings: RelaySettings) -> Check:
    """Whether the disk of the state folder has room for what is to come."""
    folder = next(path for path in (settings.state_dir, *settings.state_dir.parents) if path.exists())
    free = shutil.disk_usage(folder).free / _GIB
    said = text.room(free, str(settings.state_dir))
    if free >= _LITTLE_ROOM:
        return Check("disk", "ok", said)
    return Check("disk", "fail" if free < _NO_ROOM else "warn", said, text.room_hint())


def check_descriptors() -> Check:
    """Whether a process may have enough files and connections open."""
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most == resource.RLIM_INFINITY or most >= _FEW_FILES:
        return Check("descriptors", "ok", text.descriptors(most))
    return Check(
        "descriptors", "fail" if most < _TOO_FEW_FILES else "warn", text.descriptors(most), text.descriptors_hint()
    )


def check_database_clock(settings: RelaySettings) -> Check:
    """How far the clock of the database's machine is: other replicas go by clocks like this one."""
    from sqlalchemy import make_url
    from sqlalchemy import text as sql
    from sqlalchemy.exc import SQLAlchemyError

    from relay.errors import SettingsError
    from relay.store.engine import open_engine

    name = "database clock"
    try:
        if make_url(settings.database_url).get_backend_name() == "sqlite":
            return Check(name, "skip", text.own_clock())
        engine = open_engine(settings.database_url)
    except (SQLAlchemyError, SettingsError) as error:
        return Check(name, "skip", text.not_asked(type(error).__name__))
    try:
        with engine.connect() as connection:
            theirs = connection.execute(sql("SELECT clock_timestamp()")).scalar_one()
    except SQLAlchemyError as error:  # why is said of the database
        return Check(name, "skip", text.not_asked(type(error).__name__))
    finally:
        engine.dispose()
    return compared(name, "the database's", theirs)


def check_clock_of(name: str, whose: str, url: str) -> Check:
    """How far the clock of a server is, by the date of its answer, whatever that is."""
    import httpx

    from relay.outgoing import open_client

    try:
        with open_client(url, timeout_s=_WAIT_S) as client:
            told = client.get(url).headers.get("Date", "")
        theirs = parsedate_to_datetime(told).replace(tzinfo=UTC)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Check(name, "skip", text.not_asked(type(error).__name__))
    except ValueError:
        return Check(name, "skip", text.not_asked("no date"))
    return compared(name, whose, theirs)


def check_github_clock(settings: RelaySettings) -> Check:
    """How far GitHub's clock is, where there is an App: its tokens are good for minutes."""
    if settings.github_app_id is None:
        return Check("github clock", "skip", text.none_configured())
    return check_clock_of("github clock", "GitHub's", settings.github_api_url)


def compared(name: str, whose: str, theirs: datetime, ours: datetime | None = None) -> Check:
    """`theirs` is what the other's clock said just now."""
    seconds = (theirs - (ours or datetime.now(UTC))).total_seconds()
    if abs(seconds) <= _CLOCKS_AGREE:
        return Check(name, "ok", text.clocks_agree(whose, seconds))
    grave: Literal["warn", "fail"] = "fail" if abs(seconds) > _CLOCKS_DISAGREE else "warn"
    return Check(name, grave, text.clock_differs(whose, seconds), text.clock_hint())


def check_emulator() -> Check:
    """Whether the built device computes what the CPU does. Where none is built, nothing is."""
    from relay.cli.device import ask_device

    inventory = json.loads(ask_device("workers.spyre.inventory", (), lambda _: None).output or "{}")
    named = bool(os.environ.get("SPYRE_LIBRARY"))
    if not named and not any(library["used"] for library in inventory.get("libraries", ())):
        return Check("emulator", "skip", text.emulator_not_built())
    answer = ask_device("workers.spyre.self_test", (), lambda _: None, timeout_s=SELF_TEST_S)
    report = json.loads(answer.output or "{}")
    if not report or report["problem"]:
        problem = one_line(report.get("problem", "") or answer.error or text.no_end(SELF_TEST_S), 300)
        return Check("emulator", "fail", problem, text.emulator_hint())
    said = text.emulator_works(report["torch"], report["devices"], report["operations"])
    return Check("emulator", "ok", said)


def check_tracing() -> Check:
    """Whether spans that are asked for can be sent."""
    import socket
    from importlib.util import find_spec
    from urllib.parse import urlsplit

    from relay.trail.known_secrets import without_login
    from relay.trail.tracing import is_wanted

    if not is_wanted():
        return Check("tracing", "skip", text.no_spans())
    names = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    address = next(filter(None, map(os.environ.get, names)), "")
    if find_spec("opentelemetry.sdk") is None or find_spec("opentelemetry.exporter") is None:
        return Check("tracing", "warn", text.unreachable(without_login(address), "no SDK"), text.spans_hint())
    parts = urlsplit(address)
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname or "", port), timeout=_WAIT_S).close()
    except (OSError, ValueError) as error:
        said = text.unreachable(without_login(address), type(error).__name__)
        return Check("tracing", "warn", said, text.spans_hint())
    return Check("tracing", "ok", text.spans_go(without_login(address)))
