"""The sentences of `relay doctor` about a machine, its secrets and its clocks. Standard library only, as `text.py`."""

from __future__ import annotations

from collections.abc import Sequence


def look_failed(fault: str) -> str:
    return f"looking failed ({fault})"


def report_it() -> str:
    return "this is a fault of relay doctor; please report it"


def no_end(seconds: float) -> str:
    return f"no answer within {seconds:g} s"


def no_end_hint() -> str:
    return "something hangs: a network that drops packets, a disk that is away, or a machine that is overloaded"


def no_settings() -> str:
    return "not looked at: the settings do not load"


def strong_secrets(count: int) -> str:
    return f"{count} given, none of them weak" if count else "none given, the first start makes them"


def weak(setting: str, why: str) -> str:
    return f"{setting} {why}"


def too_short(minimum: int) -> str:
    return f"has fewer than {minimum} characters"


def too_even() -> str:
    return "is easily guessed: few different characters"


def an_example() -> str:
    return "is an example or a word"


def same(settings: Sequence[str]) -> str:
    return f"{' and '.join(settings)} are the same value"


def no_password(setting: str, host: str) -> str:
    return f"{setting} has no password, and {host} is another machine"


def secrets_hint() -> str:
    return "make each anew: python3 -c 'import secrets; print(secrets.token_urlsafe(32))'"


def closed_files(count: int) -> str:
    return f"{count} files, for their owner alone" if count else "no secret is in a file"


def open_files(files: Sequence[str]) -> str:
    return f"others may read {', '.join(files)}"


def open_files_hint(files: Sequence[str]) -> str:
    return f"chmod 600 {' '.join(files)}"


def room(free_gib: float, folder: str) -> str:
    return f"{free_gib:.1f} GiB free for {folder}"


def room_hint() -> str:
    return "make room, or set RELAY_STATE_DIR (workers: RELAY_WORK_DIR) to a larger disk; a full one stops the record"


def descriptors(count: int) -> str:
    return f"{count} files at a time"


def descriptors_hint() -> str:
    return "each reader and each letter takes one: raise `ulimit -n`, or LimitNOFILE= of the unit"


def clocks_agree(whose: str, seconds: float) -> str:
    return f"{abs(seconds):.1f} s from {whose}"


def clock_differs(whose: str, seconds: float) -> str:
    return f"this clock is {abs(seconds):.0f} s {'behind' if seconds > 0 else 'ahead of'} {whose}"


def clock_hint() -> str:
    return "leases, tokens and schedules go by it: run a time service (chrony, systemd-timesyncd) on every machine"


def own_clock() -> str:
    return "a file on this machine"


def not_asked(why: str) -> str:
    return f"not asked: {why}"


def none_configured() -> str:
    return "none configured"


def findings(count: int, first: str) -> str:
    return f"{count} warnings, the first: {first}" if count > 1 else f"a warning: {first}"


def reached(what: str) -> str:
    return f"{what} answers"


def unreachable(what: str, why: str) -> str:
    return f"{what}: {why}"


def upstream_hint() -> str:
    return "check RELAY_UPSTREAM_CLONE_URL and its login, and that this machine reaches it; workers fetch from there"


def hud_hint() -> str:
    return "copies of results wait until it does; check RELAY_HUD_URL"


def proxy_hint(variable: str) -> str:
    return f"whatever leaves by it does not arrive; check {variable}"


def allowlist_found(backends: int) -> str:
    return f"{backends} backends" if backends != 1 else "1 backend"


def allowlist_hint() -> str:
    return "the last good copy stays in force; check RELAY_ALLOWLIST_URL, `relay allowlist check` and the App's rights"


def rights_complete() -> str:
    return "all permissions and events that this relay needs"


def rights_missing(whose: str, permissions: Sequence[str], events: Sequence[str]) -> str:
    parts = [f"permissions {', '.join(permissions)}"] if permissions else []
    parts += [f"events {', '.join(events)}"] if events else []
    return f"{whose} lacks {' and '.join(parts)}"


def rights_hint() -> str:
    return "add them on the App's page; whoever installed it has to accept new permissions"


def not_installed_on(repo: str) -> str:
    return f"the App is not installed on {repo}"


def install_hint() -> str:
    return "install it there, or set RELAY_UPSTREAM_REPO"


def sweeping(age_s: float | None) -> str:
    return f"last {age_s:.0f} s ago" if age_s is not None else "never yet"


def nobody_sweeps_hint() -> str:
    return (
        "beside `relay serve --web-only` run `relay background`; without it nothing is sent, and nothing lost is found"
    )


def queue_moves(waiting: Sequence[str]) -> str:
    return f"waiting: {', '.join(waiting)}" if waiting else "nothing waits"


def queue_stands(late: Sequence[str]) -> str:
    return f"late: {', '.join(late)}"


def queue_hint() -> str:
    return "`relay status` says what waits, `relay delivery list` what is not sent; are workers of that device there?"


def emulator_works(torch: str, devices: int, operations: int) -> str:
    return f"torch {torch}, {devices} devices, {operations} operations as on the CPU"


def emulator_not_built() -> str:
    return "not built here"


def emulator_hint() -> str:
    return "`relay device build` makes it again; `relay device status` shows more"


def no_spans() -> str:
    return "off: OTEL_EXPORTER_OTLP_ENDPOINT is not set"


def spans_go(address: str) -> str:
    return f"spans go to {address}"


def spans_hint() -> str:
    return "pip install 'oot-relay[tracing]', OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, and a collector that listens"
