"""What `relay doctor` asks of others: GitHub whether it knows the App, the model whether it takes the key, and the
device's own program which library is built. Each waits a few seconds at most, and changes nothing anywhere.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from relay.cli import outside_text as text
from relay.cli.check import Check
from relay.cli.output import one_line

if TYPE_CHECKING:
    from relay.settings import RelaySettings

_WAIT_S = 5.0
#: Refusals of a key.
_NOT_ACCEPTED = frozenset({401, 403})


def check_device() -> Check:
    """Whether `import torch` has the device here. A machine that runs no tests needs none."""
    from relay.cli.device import ask_device

    answer = ask_device("workers.spyre.inventory", (), lambda _: None)
    if answer.code != 0:
        return Check("device", "warn", one_line(answer.error) or text.device_unknown(), text.device_hint())
    inventory = json.loads(answer.output)
    used = next((it for it in inventory["libraries"] if it["used"]), None)
    if used is None:
        wrong = one_line(inventory["problem"])
        return Check("device", "warn", wrong or text.device_not_built(inventory["wanted"]), text.device_hint())
    if used["problem"]:
        return Check("device", "warn", f"{used['path']} {one_line(used['problem'])}", text.device_hint())
    return Check("device", "ok", used["path"])


def check_github(settings: RelaySettings) -> Check:
    """Whether GitHub takes the App's key. A relay that only tests for itself has no App."""
    from relay.errors import SettingsError
    from relay.github.app import GitHubApp
    from relay.github.types import GitHubError

    app_id, key = settings.github_app_id, settings.github_app_private_key
    if app_id is None and key is None:
        return Check("github app", "ok", text.no_app())
    if app_id is None or key is None:
        return Check("github app", "fail", text.half_an_app(), text.app_hint())
    try:
        app = GitHubApp(app_id, key, api_url=settings.github_api_url, timeout_s=_WAIT_S)
    except SettingsError as error:
        return Check("github app", "fail", str(error), text.app_hint())
    try:
        name = one_line(app.name(), 100)
    except GitHubError as error:
        refused = error.status in _NOT_ACCEPTED or error.status == 404
        hint = text.app_refused_hint() if refused else text.github_hint(settings.github_api_url)
        return Check("github app", "fail" if refused else "warn", one_line(str(error), 300), hint)
    finally:
        app.close()
    return Check("github app", "ok", text.app(app_id, name))


def check_model_answers(settings: RelaySettings) -> Check:
    """Whether the model's server is there and takes the key, by its list of models, which costs nothing."""
    import httpx

    from relay.outgoing import open_client
    from relay.trail.known_secrets import without_login

    base = (settings.llm_base_url or "").rstrip("/")
    said = f"{settings.llm_model} at {without_login(base)} ({settings.llm_provider})"
    key = settings.llm_api_key.get_secret_value() if settings.llm_api_key else ""
    shown = {"Authorization": f"Bearer {key}"} if settings.llm_provider == "openai" else {"x-api-key": key}
    headers = {"anthropic-version": "2023-06-01"} if settings.llm_provider == "anthropic" else {}
    try:
        with open_client(base, timeout_s=_WAIT_S, headers={**headers, **(shown if key else {})}) as client:
            status = client.get(f"{base}/models").status_code
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Check("model", "warn", f"{said}: {one_line(str(error)) or type(error).__name__}", text.model_away_hint())
    if status in _NOT_ACCEPTED:
        return Check("model", "fail", f"{said}: {status}", text.model_key_hint())
    # A server without a list answers 404, and is there all the same.
    if status >= 500:
        return Check("model", "warn", f"{said}: {status}", text.model_away_hint())
    return Check("model", "ok", said)
