"""Schemathesis against the whole application, inside the process: what it finds, as sentences.

It makes requests from the description alone: those that fit and those that do not, the examples, and chains in which
one request follows from the answer to another. It then asks whether each answer is one that the description promises.
Source: https://schemathesis.readthedocs.io
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from fastapi import FastAPI
from schemathesis.config import SchemathesisConfig
from schemathesis.core.failures import Failure
from schemathesis.engine import events, from_schema

#: Refusals of what fits its form and still means nothing, each with a code that says so.
_MEANT = frozenset({"invalid_cursor", "bad_message"})
#: Surfaces of another protocol, which has no forms: what is missing or odd is refused by a sentence with 400.
_WITHOUT_FORMS = ("/api/clickhouse/", "/api/crcr/", "/github/")
#: Streams that end only with their reader; `tests/relay/web/test_stream.py` listens to them.
ENDLESS = "/events"
_SETTINGS: dict[str, Any] = {
    "seed": 1,
    "request-timeout": 60,  # a busy machine is no fault
    "checks": {
        "negative_data_rejection": {"expected-statuses": [400, 401, 403, 404, 405, 409, 413, 422]},
        # Two more requests for each; what tokens open is asked of every operation in a test of its own.
        "ignored_auth": {"enabled": False},
    },
}


@dataclass
class Found:
    """`faults` by what they are about; `asked` are the operations that answered; `requests` how many there were."""

    faults: dict[str, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    requests: int = 0


def explore(app: FastAPI, token: str, wanted: Collection[str], *, examples: int, chains: bool = False) -> Found:
    """Ask the operations that are `wanted` (`GET /api/v1/runs`), with a token, each by itself or in chains. `examples`
    bounds what is made for each."""
    document = app.openapi()
    # A stream of events ends only with its reader, and here nobody leaves.
    paths = {path: methods for path, methods in document["paths"].items() if not path.endswith(ENDLESS)}
    config = SchemathesisConfig.from_dict(
        {
            **_SETTINGS,
            "generation": {"max-examples": examples, "deterministic": True, "database": "none"},
            "phases": {
                "enabled": not chains,
                "coverage": {"unexpected-methods": ["PUT"]},  # the others make no difference
                "stateful": {"enabled": chains},
            },
            "headers": {"Authorization": f"Bearer {token}"},
        }
    )
    schema = schemathesis.openapi.from_dict({**document, "paths": paths}, config=config)
    schema.app, schema.location = app, "/api/v1/openapi.json"
    found = Found()
    for event in from_schema(schema.include(lambda one: one.operation.label in wanted)).execute():
        for label, fault in _faults(event, found):
            found.faults.setdefault(label, fault)
    return found


def _faults(event: events.EngineEvent, found: Found) -> Iterator[tuple[str, str]]:
    if isinstance(event, events.NonFatalError):
        yield event.label, str(event.value)
    elif isinstance(event, events.FatalError):
        yield "engine", str(event.exception)
    elif isinstance(event, (events.ScenarioFinished, events.FuzzScenarioFinished)):
        yield from _judged(event, found)


def _judged(event: events.ScenarioFinished | events.FuzzScenarioFinished, found: Found) -> Iterator[tuple[str, str]]:
    recorder = event.recorder
    for case_id, node in recorder.cases.items():
        found.asked.add(node.value.operation.label)
        found.requests += 1
        for check in recorder.checks.get(case_id, ()):
            if check.failure_info is not None:
                interaction = recorder.interactions.get(case_id)
                answer = interaction.response if interaction is not None else None
                body = b"" if answer is None else answer.content or b""
                status = 0 if answer is None else answer.status_code
                failure = check.failure_info.failure
                if not _is_meant(failure, node.value.operation.path, status, body):
                    what = f"{node.value.operation.label}: {failure.title}"
                    yield what, f"{failure.message}\n{check.failure_info.code_sample}\n{status} {body[:300]!r}"


def _is_meant(failure: Failure, path: str, status: int, body: bytes) -> bool:
    """Whether a request that fits its form was refused for what it says; or one that does not was put aside unread."""
    kind = type(failure).__name__
    if path == "/github/webhook" and kind in {"AcceptedNegativeData", "MissingHeaderNotRejected"}:
        return body == b'{"ignored":true}'
    if kind != "RejectedPositiveData":
        return False
    if path.startswith(_WITHOUT_FORMS):
        return status == 400
    return status == 422 and json.loads(body)["code"] in _MEANT
