"""`repository_dispatch`: its limits, the workflow run that it starts, and the apps that hear of it.

Source: https://docs.github.com/en/rest/repos/repos#create-a-repository-dispatch-event
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from relay.devgithub.bodies import full_repository, user
from relay.devgithub.records import App, Dispatch, RefusedError, Repository
from relay.devgithub.state import DevGitHub
from relay.devgithub.workflow_runs import start_run

MOST_PROPERTIES, PAYLOAD_CAP, EVENT_TYPE_CAP = 10, 65_535, 100


def dispatch(state: DevGitHub, repository: Repository, app: App, body: Mapping[str, Any]) -> Dispatch:
    """Accept a dispatch. Raises RefusedError 422 beyond a limit; sizes are characters of compact JSON."""
    event_type, payload = body.get("event_type"), body.get("client_payload", {})
    _judge(event_type, payload)
    run = start_run(state, repository, event="repository_dispatch") if repository.workflow else None
    made = Dispatch(repository.full_name, str(event_type), payload, app, state.now(), None if run is None else run.id)
    with state.lock:
        state.dispatches.append(made)
    event = {
        "action": event_type,
        "branch": repository.default_branch,
        "client_payload": payload,
        "repository": full_repository(state, repository),
        "sender": user(state, f"{app.slug}[bot]"),
    }
    state.announce_later(repository, "repository_dispatch", event)
    return made


def _judge(event_type: object, payload: object) -> None:
    if not isinstance(event_type, str) or not event_type:
        raise RefusedError(422, 'Invalid request.\n\n"event_type" wasn\'t supplied.')
    if len(event_type) > EVENT_TYPE_CAP:
        raise RefusedError(422, f"Invalid request.\n\nOnly {EVENT_TYPE_CAP} characters are allowed in event_type.")
    if not isinstance(payload, Mapping):
        raise RefusedError(422, "Invalid request.\n\nclient_payload is not an object.")
    if len(payload) > MOST_PROPERTIES:
        said = f"No more than {MOST_PROPERTIES} properties are allowed; {len(payload)} were supplied."
        raise RefusedError(422, f"Invalid request.\n\n{said}")
    if len(json.dumps(payload, separators=(",", ":"), ensure_ascii=False)) > PAYLOAD_CAP:
        raise RefusedError(422, "client_payload is too large")
