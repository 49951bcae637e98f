"""Behind `relay devgithub`: serving it in the foreground, and talking to the one that runs.

Imports the web server and httpx: for the inside of commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from relay.cli import devgithub_text as text
from relay.cli.connect import load_settings
from relay.cli.foreground import log_to_stderr, wait_for_stop, watching_signals
from relay.cli.output import Output
from relay.devgithub import App, DevGitHub, create_devgithub
from relay.devgithub.setup import Plan, relay_variables, set_up, shell_script
from relay.failures import Failure
from relay.machine.listening import listen, url_of
from relay.machine.state_folder import AlreadyRunning, announce, announced_url, hold, write_private
from relay.machine.web_thread import web_thread
from relay.settings import RelaySettings, with_secrets

_ANSWER_WITHIN_S = 60.0
_DRAIN_S = 2
_SCRIPT = "relay.env"


class BadPlan(Failure):
    """What is to be served is not there, or is not what it should be."""

    code = "bad_plan"


class DevGitHubUnavailable(Failure):
    """There is none to talk to, or it said no."""

    code = "devgithub_unavailable"


def serve(plan: Plan, port: int, out: Output) -> None:
    """Serve on loopback until a signal. The keys, and a script with a relay's variables, are kept in the state folder.

    Raises `BadPlan`, `DevGitHubUnavailable` when one is running here, `NotStarted` when the port is taken.
    """
    settings = with_secrets(load_settings())
    plan = _checked(replace(plan, upstream=plan.upstream or settings.upstream_repo))
    folder = _folder(settings)
    log_to_stderr()
    with watching_signals() as stop, _held(folder), listen("127.0.0.1", port) as listener:
        state, app = _set_up(folder, plan, settings)
        state.url = url_of("127.0.0.1", listener)
        script = folder / _SCRIPT
        write_private(script, shell_script(relay_variables(state, app, plan)))
        with announce(folder, state.url), web_thread(create_devgithub(state), listener, drain_s=_DRAIN_S) as thread:
            _say(out, state.url, script, plan)
            wait_for_stop(stop, thread)
        state.hooks.close()
    out.note(text.stopped())


def steer(repo: str, path: str, body: Mapping[str, object], *, method: str = "POST") -> Any:
    """Do something to a repository (the upstream, which was made first, when `repo` is empty); the answer's JSON."""
    name = _name(repo) if repo else ask("GET", "/_dev/state")["repositories"][0]
    return ask(method, f"/_dev/repos/{name}{path}", json=body if method == "POST" else None)


def ask(method: str, path: str, **more: Any) -> Any:
    """A request to the local GitHub that runs here. Raises `DevGitHubUnavailable`."""
    url = announced_url(_folder(load_settings()))
    if url is None:
        raise DevGitHubUnavailable(text.not_running(), text.not_running_hint())
    try:
        answer = httpx.request(method, url + path, timeout=_ANSWER_WITHIN_S, trust_env=False, **more)
    except httpx.HTTPError as error:
        raise DevGitHubUnavailable(text.unreachable(url), text.not_running_hint()) from error
    if answer.is_error:
        raise DevGitHubUnavailable(text.refused(answer.status_code, answer.json()["message"]), text.refused_hint())
    return answer.json()


def _say(out: Output, url: str, script: Path, plan: Plan) -> None:
    if out.as_json:
        out.data({"url": url, "environment": str(script), "upstream": plan.upstream, "backends": list(plan.backends)})
    out.say(text.serving(url, plan.upstream, plan.backends))
    out.note(text.how_to_point(script, plan.relay_url))
    out.note(text.how_to_steer())


def _checked(plan: Plan) -> Plan:
    """The plan with absolute paths. Raises `BadPlan`."""
    for name in (plan.upstream, *plan.backends):
        _name(name)
    clone = plan.clone.expanduser().absolute()
    if not ((clone / ".git").exists() or (clone / "HEAD").is_file()):
        raise BadPlan(text.no_clone(clone), text.no_clone_hint())
    return replace(plan, clone=clone, allowlist=plan.allowlist and plan.allowlist.expanduser().absolute())


def _name(name: str) -> str:
    owner, slash, rest = name.partition("/")
    if not owner or not slash or not rest or "/" in rest:
        raise BadPlan(text.no_name(name), text.refused_hint())
    return name


def _folder(settings: RelaySettings) -> Path:
    return settings.state_dir / "devgithub"


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """The folder, for this process alone; the lock's own words would speak of a relay."""
    with ExitStack() as stack:
        try:
            stack.enter_context(hold(folder))
        except AlreadyRunning as error:
            said = text.already_running(announced_url(folder))
            raise DevGitHubUnavailable(said, text.already_running_hint()) from error
        yield


def _set_up(folder: Path, plan: Plan, settings: RelaySettings) -> tuple[DevGitHub, App]:
    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else ""
    try:
        return set_up(folder, plan, secret)
    except OSError as error:
        raise BadPlan(text.unusable_folder(folder, error.strerror), text.unusable_folder_hint()) from error
