"""What `relay doctor` finds of the parts around a relay: upstream, the HUD, the allowlist, the App's rights, proxies,
and whether the service's own wheels turn. Each waits some seconds at most, and changes nothing anywhere.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from relay.cli import doctor_text as text
from relay.cli.check import Check
from relay.cli.output import one_line
from relay.failures import Failure

if TYPE_CHECKING:
    from relay.github.app import GitHubApp
    from relay.github.rights import Rights
    from relay.settings import RelaySettings
    from relay.views import Readiness

_WAIT_S = 5.0
GIT_S = 30.0
_SENTENCE = 300


def check_upstream(settings: RelaySettings) -> Check:
    """Whether git reads the clone URL from here, as workers do: with its login, through their proxy."""
    from relay.cli.programs import run_program
    from relay.trail.known_secrets import without_login

    names = ("RELAY_GIT_PROXY", "RELAY_GIT_PROXY_FILE")
    told = {name: text for name, text in os.environ.items() if name in names or name.lower().endswith("_proxy")}
    url = settings.upstream_clone_url
    answer = run_program("workers.upstream.reach", (), told, lambda _: None, timeout_s=GIT_S, asked=url)
    shown = without_login(url)
    if answer.code == 0:
        return Check("upstream", "ok", text.reached(shown))
    why = one_line(answer.error, _SENTENCE) or text.no_end(GIT_S)
    return Check("upstream", "warn", text.unreachable(shown, why), text.upstream_hint())


def check_hud(settings: RelaySettings) -> Check:
    """Whether the HUD is there. Nothing is posted."""
    import httpx

    from relay.outgoing import open_client

    url = settings.hud_url
    if not url:
        return Check("hud", "skip", text.none_configured())
    try:
        with open_client(url, timeout_s=_WAIT_S) as client:
            client.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        why = one_line(str(error)) or type(error).__name__
        return Check("hud", "warn", text.unreachable(url, why), text.hud_hint())
    return Check("hud", "ok", text.reached(url))


def check_allowlist(settings: RelaySettings) -> Check:
    """Whether the list can be had, with the App's rights or by anybody, and be used."""
    from relay.allowlist.fetching import TextSource
    from relay.allowlist.grammar import read_allowlist
    from relay.allowlist.locations import LocationError
    from relay.errors import SettingsError
    from relay.github.types import GitHubError

    if not settings.allowlist_url:
        return Check("allowlist", "skip", text.none_configured())
    try:
        github = _app(settings)
        try:
            source = TextSource(settings.github_web_url, settings.github_api_url, github)
            found = source.fetch(settings.allowlist_url).text or ""
        finally:
            if github is not None:
                github.close()
    except (GitHubError, LocationError, SettingsError) as error:
        return Check("allowlist", "warn", one_line(str(error), _SENTENCE), text.allowlist_hint())
    reading = read_allowlist(found)
    if reading.allowlist is None:
        first = reading.findings[0]
        said = f"{first.line}:{first.column}: {first.message}"
        return Check("allowlist", "fail", one_line(said, _SENTENCE), text.allowlist_hint())
    return Check("allowlist", "ok", text.allowlist_found(len(reading.allowlist.backends)))


def check_rights(settings: RelaySettings) -> Check:
    """Whether the App may do what the code does, by itself and where it is installed on upstream."""
    from relay.errors import SettingsError
    from relay.github.rights import needed_rights
    from relay.github.types import GitHubError

    name = "app rights"
    try:
        app = _app(settings)
    except SettingsError as error:  # said of the App
        return Check(name, "skip", text.not_asked(type(error).__name__))
    if app is None:
        return Check(name, "skip", text.none_configured())
    needed = needed_rights(comments=settings.comment_commands != "off")
    try:
        lacking = {"the App": app.rights().lacking(needed)}
        if not lacking["the App"]:
            lacking[f"its installation on {settings.upstream_repo}"] = app.rights_in(settings.upstream_repo).lacking(
                needed
            )
    except GitHubError as error:
        if error.status == 404:
            return Check(name, "fail", text.not_installed_on(settings.upstream_repo), text.install_hint())
        return Check(name, "skip", text.not_asked(one_line(str(error), _SENTENCE)))
    finally:
        app.close()
    return rights_judged(name, lacking)


def rights_judged(name: str, lacking: Mapping[str, Rights]) -> Check:
    """What is said of what is missing, by who misses it."""
    missing = [
        text.rights_missing(
            whose, [f"{permission}: {level}" for permission, level in it.permissions.items()], sorted(it.events)
        )
        for whose, it in lacking.items()
        if it
    ]
    if missing:
        return Check(name, "fail", "; ".join(missing), text.rights_hint())
    return Check(name, "ok", text.rights_complete())


def _app(settings: RelaySettings) -> GitHubApp | None:
    from relay.github.app import GitHubApp

    app_id, key = settings.github_app_id, settings.github_app_private_key
    if app_id is None or key is None:
        return None
    return GitHubApp(app_id, key, api_url=settings.github_api_url, timeout_s=_WAIT_S)


def check_proxy() -> Check:
    """Whether the proxies that the environment names take connections."""
    named = {
        name: text for name, text in os.environ.items() if name.lower() in ("http_proxy", "https_proxy", "all_proxy")
    }
    proxies = {name: address for name, address in named.items() if address}
    if not proxies:
        return Check("proxy", "skip", text.none_configured())
    for name, address in proxies.items():
        parts = urlsplit(address if "://" in address else f"http://{address}")
        try:
            where = (parts.hostname or "", parts.port or 1080)
            socket.create_connection(where, timeout=_WAIT_S).close()
        except (OSError, ValueError) as error:
            said = text.unreachable(f"{name} ({parts.hostname})", type(error).__name__)
            return Check("proxy", "warn", said, text.proxy_hint(name))
    return Check("proxy", "ok", text.reached(", ".join(proxies)))


def check_sweep(settings: RelaySettings, url: str | None) -> Check:
    """Whether somebody sweeps, by the service's own word."""
    found = _readiness(settings, url)
    if isinstance(found, str):
        return Check("sweep", "skip", text.not_asked(found))
    if "sweep" in found.late:
        return Check("sweep", "fail", text.sweeping(found.sweep_age_s), text.nobody_sweeps_hint())
    return Check("sweep", "ok", text.sweeping(found.sweep_age_s))


def check_queue(settings: RelaySettings, url: str | None) -> Check:
    """Whether what waits moves."""
    found = _readiness(settings, url)
    if isinstance(found, str):
        return Check("queue", "skip", text.not_asked(found))
    late = [part for part in found.late if part != "sweep"]
    if late:
        return Check("queue", "fail", text.queue_stands(late), text.queue_hint())
    return Check("queue", "ok", text.queue_moves([f"{name} {age:.0f} s" for name, age in found.queue_age_s.items()]))


def _readiness(settings: RelaySettings, url: str | None) -> Readiness | str:
    """What the service says of itself; why it does not."""
    import httpx
    from pydantic import ValidationError

    from relay.cli.connect import find_url
    from relay.outgoing import open_client
    from relay.views import Readiness

    address = find_url(settings, url)
    try:
        with open_client(address, timeout_s=_WAIT_S) as client:
            return Readiness.model_validate_json(client.get(f"{address.rstrip('/')}/readyz").content)
    except (httpx.HTTPError, httpx.InvalidURL, ValidationError, Failure) as error:
        return type(error).__name__
