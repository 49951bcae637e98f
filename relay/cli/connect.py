"""How a command finds its relay: settings, the service's address, the operator token.

Address: --url or RELAY_URL, else the service that `relay up` announced in the state folder or `relay demo` beside it,
else loopback port 8000.
Token: RELAY_OPERATOR_TOKEN, else the file in the state folder. The file's token goes to this machine only, so that a
wrong --url cannot collect it. It is shown for reading as well: a service may want one there.
Imports pydantic and httpx: for the inside of commands.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import SettingsError as UnreadableVariable

from relay.cli import text, usage_text
from relay.cli.output import trace
from relay.client import ApiClient, is_loopback
from relay.failures import Failure
from relay.machine.state_folder import announced_url, demo_folder
from relay.settings import SECRET_FILES, RelaySettings, variable_of

DEFAULT_URL = "http://127.0.0.1:8000"


class BadSettings(Failure):
    """RELAY_* variables that do not make sense; values are never quoted, they may be secrets."""

    code = "bad_settings"


class NoToken(Failure):
    """A command needs a token and there is none."""

    code = "no_token"
    needs_login = True


def load_settings() -> RelaySettings:
    """The settings of this environment. Raises `BadSettings` naming every wrong variable."""
    try:
        return RelaySettings()
    except ValidationError as error:
        problems = [_problem(item["loc"], item["msg"]) for item in error.errors(include_input=False)]
    except UnreadableVariable as error:
        problems = [str(error)]
    raise BadSettings(text.bad_settings(problems), text.bad_settings_hint())


def find_url(settings: RelaySettings, given: str | None) -> str:
    """The address of the service a command means."""
    return given or announced_url(_serving_folder(settings)) or DEFAULT_URL


def _serving_folder(settings: RelaySettings) -> Path:
    """The state folder of the service that runs here: `relay up`'s own, or else the demo's beside it, so that the
    commands on the demo's page can be copied as they stand."""
    folders = (settings.state_dir, demo_folder(settings.state_dir))
    return next((folder for folder in folders if announced_url(folder)), settings.state_dir)


def open_client(given_url: str | None) -> ApiClient:
    """A client for reading; it shows the token that there is, if there is one."""
    settings = load_settings()
    url = find_url(settings, given_url)
    return ApiClient(url, operator_token=_operator_token(settings, url), trace=trace)


def open_operator_client(given_url: str | None) -> ApiClient:
    """A client that may change things. Raises `NoToken` before anything is sent when there is no token."""
    settings = load_settings()
    url = find_url(settings, given_url)
    token = _operator_token(settings, url)
    if not token:
        raise NoToken(text.no_operator_token(url), text.no_operator_token_hint())
    return ApiClient(url, operator_token=token, trace=trace)


def _operator_token(settings: RelaySettings, url: str) -> str:
    if settings.operator_token is not None:
        return settings.operator_token.get_secret_value()
    if not is_loopback(url):
        return ""
    try:
        return (_serving_folder(settings) / SECRET_FILES["operator_token"]).read_text(encoding="utf-8").strip()
    except OSError:
        return ""


def _problem(location: tuple[int | str, ...], message: str) -> str:
    message = usage_text.in_our_words(message)
    return f"{variable_of(str(location[0]))}: {message}" if location else message
