"""The description of the API is whole: every route says what it is for, what one asks it, what it answers, how it
refuses and who may. A new route that lacks something fails here, by its address and with what to do."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from fastapi.testclient import TestClient
from jsonschema import Draft202012Validator
from jsonschema.protocols import Validator
from schemathesis.specs.openapi.definitions import OPENAPI_31_VALIDATOR

from relay.settings import RelaySettings
from relay.views import ApiError
from relay.web.description.tags import TAGS
from tests.conftest import OpenApp

Operation = Mapping[str, Any]
_PREFIXES = ("/api/v1/", "/api/crcr/", "/api/clickhouse/", "/github/")
_JSON = "application/json"
_PROBLEM = "application/problem+json"
_SHORTEST = 20


@pytest.fixture
def document(client: TestClient) -> dict[str, Any]:
    described = client.get("/api/v1/openapi.json").json()
    assert isinstance(described, dict)
    return described


def operations(document: Mapping[str, Any]) -> Iterator[tuple[str, Operation]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def lacking(document: Mapping[str, Any], lacks: Callable[[str, Operation], object]) -> list[str]:
    """The routes that lack something."""
    return [where for where, operation in operations(document) if lacks(where.partition(" ")[2], operation)]


def test_every_route_that_is_no_page_is_described(app: FastAPI, document: dict[str, Any]) -> None:
    """A route for programs is not left out of the schema, whichever router it came with."""
    served = {
        str(getattr(route, "path_format", route.path))
        for route in iter_route_contexts(app.routes)
        if str(route.path).startswith(_PREFIXES)
    }
    assert served - set(document["paths"]) == {"/api/v1/openapi.json"}
    assert all(path.startswith(_PREFIXES) for path in document["paths"])


def test_every_route_has_a_summary_of_its_own(app: FastAPI, document: dict[str, Any]) -> None:
    """Give `summary="..."` to the decorator; a function's name is none."""
    names = {str(getattr(route, "name", "")).replace("_", " ").title() for route in iter_route_contexts(app.routes)}
    found = lacking(document, lambda _, one: one.get("summary", "") in names or len(one["summary"]) > 80)
    assert not found, "\n".join(found)
    summaries = [one["summary"] for _, one in operations(document)]
    assert len(summaries) == len(set(summaries))


def test_every_route_is_described_in_a_sentence(document: dict[str, Any]) -> None:
    """The docstring of the function."""
    found = lacking(document, lambda _, one: len(one.get("description", "")) < _SHORTEST)
    assert not found, "\n".join(found)


def test_every_route_has_a_tag_that_is_explained(document: dict[str, Any]) -> None:
    """A tag's words are in `relay.web.description.tags`."""
    known = {tag["name"] for tag in TAGS}
    found = lacking(document, lambda _, one: not one.get("tags") or not set(one["tags"]) <= known)
    assert not found, "\n".join(found)
    assert known == {tag for _, one in operations(document) for tag in one["tags"]}


def test_every_parameter_is_described(document: dict[str, Any]) -> None:
    """`Query(description="...")`; and one without which there is no address has an example (`examples=[...]`, or by
    its name in `relay.web.description.examples.PARAMETERS`)."""
    silent = [
        f"{where} {parameter['name']}"
        for where, operation in operations(document)
        for parameter in operation.get("parameters", ())
        if not parameter.get("description") or (parameter["required"] and "example" not in parameter)
    ]
    assert not silent, "\n".join(silent)


def test_every_body_has_an_example_that_fits(document: dict[str, Any]) -> None:
    """Of a request and of each answer: on the model's own class, or in `relay.web.description.examples`."""
    faults = []
    for where, operation in operations(document):
        for what, content in _bodies(operation):
            for kind, body in content.items():
                examples = _examples(body)
                faults += [] if examples else [f"{where}: no example of {what} ({kind})"]
                if kind in (_JSON, _PROBLEM):
                    faults += [f"{where}: {what}: {fault}" for one in examples for fault in _unfit(document, body, one)]
    assert not faults, "\n".join(faults)


def _bodies(operation: Operation) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if "requestBody" in operation:
        yield "request", operation["requestBody"]["content"]
    for status, response in operation["responses"].items():
        if status not in ("204", "304"):
            yield f"answer {status}", response.get("content") or {"nothing": {}}


def _examples(body: Mapping[str, Any]) -> list[Any]:
    return [body["example"]] if "example" in body else [one["value"] for one in body.get("examples", {}).values()]


def _unfit(document: Mapping[str, Any], body: Mapping[str, Any], example: Any) -> Iterator[str]:
    schema = {**body["schema"], "components": document["components"]}
    validator: Validator = Draft202012Validator(schema)
    yield from (error.message for error in validator.iter_errors(example))


def test_an_example_of_an_answer_shows_every_field(document: dict[str, Any]) -> None:
    """So that nobody has to guess what a field looks like."""
    faults = []
    for where, operation in operations(document):
        for status, response in operation["responses"].items():
            body = response.get("content", {}).get(_JSON, {})
            name = body.get("schema", {}).get("$ref", "").rpartition("/")[2]
            fields = document["components"]["schemas"].get(name, {}).get("properties", {})
            faults += [f"{where} {status}: {field}" for field in fields if field not in body.get("example", {})]
    assert not faults, "\n".join(faults)


def test_every_route_tells_how_it_refuses(document: dict[str, Any]) -> None:
    """By status, each with an example in the form of its surface; no catch-all stands for them."""
    for where, operation in operations(document):
        statuses = set(operation["responses"])
        assert statuses >= {"500", "503"}, where
        assert not statuses & {"4XX", "5XX", "default"}, where
        if "requestBody" in operation:
            assert "413" in statuses, where
        for status in statuses:
            if int(status) >= 400:
                content = operation["responses"][status]["content"]
                assert set(content) == {_PROBLEM if " /api/v1/" in where else _JSON}, (where, status)
        for example in _examples(operation["responses"]["503"]["content"].get(_PROBLEM, {})):
            assert ApiError.model_validate(example).status == 503


def test_every_example_of_a_request_is_a_command(document: dict[str, Any]) -> None:
    """Which a shell reads, with no place left open."""
    for where, operation in operations(document):
        (sample,) = operation["x-codeSamples"]
        words = shlex.split(sample["source"])
        assert words[0] == "curl", where
        assert words[-1].startswith("$RELAY_URL/"), where
        assert "{" not in words[-1], where


def test_the_document_is_openapi(document: dict[str, Any]) -> None:
    """By the standard's own schema; what tools read is what we mean."""
    assert [str(error) for error in OPENAPI_31_VALIDATOR.iter_errors(document)] == []


def test_no_operation_is_named_twice(document: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("access", ["public", "token"])
def test_the_document_says_who_may_and_it_is_so(settings: RelaySettings, open_app: OpenApp, access: str) -> None:
    """Where it names a token, nobody passes without one; where it names none, nobody is asked for one."""
    app = open_app(settings.model_copy(update={"read_access": access}))
    client = TestClient(app, raise_server_exceptions=False)
    for where, operation in operations(app.openapi()):
        method, _, path = where.partition(" ")
        if path.startswith(("/github/", "/api/crcr/results")) or path.endswith("/events"):
            continue
        for parameter in operation.get("parameters", ()):
            path = path.replace(f"{{{parameter['name']}}}", str(parameter.get("example", "1")))
        status = client.request(method, path).status_code
        assert (status == 401) is bool(operation.get("security")), (where, status)
    reading = app.openapi()["paths"]["/api/v1/runs"]["get"]
    assert reading["security"] == ([] if access == "public" else [{"token": ["read"]}, {"sign-in": []}])
    assert app.openapi()["paths"]["/api/v1/tokens"]["get"]["security"] == [{"token": ["admin"]}]
