"""What GitHub's own OpenAPI description says against a request, an answer or a webhook."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import parse_qsl, unquote

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT4

from relay.devgithub.records import Answered, Asked
from tests.github.octokit import openapi_document

_BASE = "urn:github"
#: GraphQL has a schema of its own; a difference by its page's address is no part of the API.
_PAGE = re.compile(r"/[^/]+/[^/]+/pull/\d+\.diff")

#: Media types of GitHub's, which stand for JSON in its description, and types whose answer is text.
_JSON = re.compile(r"application/(vnd\.github[\w.+-]*)?json|application/vnd\.github[\w.]*\+json")


@dataclass
class Description:
    """The description, and for each method its paths as patterns, the more particular ones first."""

    document: dict[str, Any]
    routes: dict[str, list[tuple[re.Pattern[str], str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _mend(self.document)
        resource = Resource.from_contents(self.document, default_specification=DRAFT4)
        self._registry: Registry[Any] = Registry().with_resource(_BASE, resource)
        for path in sorted(self.document["paths"], key=lambda path: (path.count("{"), -len(path))):
            for method in self.document["paths"][path]:
                self.routes.setdefault(method.upper(), []).append((_pattern(path), path))

    def operation(self, method: str, path: str) -> tuple[dict[str, Any], dict[str, str]] | None:
        """The operation that answers, and the parameters in its path."""
        for pattern, template in self.routes.get(method, ()):
            match = pattern.fullmatch(path)
            if match:
                found: dict[str, Any] = self.document["paths"][template][method.lower()]
                return found, {name: unquote(value) for name, value in match.groupdict().items()}
        return None

    def resolve(self, thing: Mapping[str, Any]) -> dict[str, Any]:
        """What a `$ref` leads to; the thing itself when it is none."""
        found = dict(thing)
        while "$ref" in found:
            target: Any = self.document
            for step in found["$ref"].removeprefix("#/").split("/"):
                target = target[step.replace("~1", "/").replace("~0", "~")]
            found = dict(target)
        return found

    def complaints(self, value: object, schema: Mapping[str, Any], where: str) -> Iterator[str]:
        """What a schema has against a value."""
        rooted = _rooted(schema)
        checker = _VALIDATOR(rooted, registry=self._registry, format_checker=_FORMATS)
        for error in checker.iter_errors(value):
            best = jsonschema.exceptions.best_match([error]) or error
            path = ".".join(map(str, best.absolute_path))
            yield f"{where}{'.' + path if path else ''}: {best.message[:300]}"


def _mend(document: dict[str, Any]) -> None:
    """The one place where the description contradicts GitHub: in the list of an app's installations an account is a
    user and an enterprise at once (`allOf`), and in a single installation one of both (`anyOf`), as it is."""
    answer = document["paths"]["/app/installations"]["get"]["responses"]["200"]
    answer["content"]["application/json"]["schema"]["items"] = {"$ref": "#/components/schemas/installation"}


def request_complaints(description: Description, asked: Asked) -> Iterator[str]:
    """What the description has against a request: its method and path, parameters, fields of its body."""
    path, _, query = asked.target.partition("?")
    if path == "/graphql" or _PAGE.fullmatch(path):
        return
    found = description.operation(asked.method, path)
    if found is None:
        yield "GitHub has no such operation"
        return
    operation, in_path = found
    parameters = [description.resolve(each) for each in operation.get("parameters", ())]
    yield from _path_complaints(description, parameters, in_path)
    yield from _query_complaints(description, parameters, parse_qsl(query, keep_blank_values=True))
    yield from _body_complaints(description, operation, asked)


def answer_complaints(description: Description, asked: Asked, answered: Answered) -> Iterator[str]:
    """What the description has against an answer of ours: an unknown status, a body of another form."""
    found = description.operation(asked.method, asked.target.partition("?")[0])
    status = answered.status
    if found is None or status in (401, 599):
        return  # any request may be unauthorized; 599 is our own way of failing a test
    answers = found[0]["responses"]
    if str(status) not in answers:
        # Refusals by credentials and limits are described once, in prose, for every operation.
        if status not in (403, 404, 422, 429):
            yield f"GitHub does not answer {status} here"
        return
    content = description.resolve(answers[str(status)]).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if schema is not None and _JSON.match(answered.headers.get("content-type", "")):
        yield from description.complaints(json.loads(answered.body), schema, f"answer {status}")


def event_complaints(description: Description, event: str, payload: Mapping[str, Any]) -> Iterator[str]:
    """What the description has against the body of a webhook. Dispatches are described by one example action."""
    action = "sample.collected" if event == "repository_dispatch" else str(payload.get("action", ""))
    name = "-".join(part for part in (event.replace("_", "-"), action.replace("_", "-")) if part)
    described = description.document["x-webhooks"].get(name)
    if described is None:
        yield f"GitHub sends no webhook {name}"
        return
    schema = described["post"]["requestBody"]["content"]["application/json"]["schema"]
    shown = {**payload, "action": action} if event == "repository_dispatch" else payload
    yield from description.complaints(shown, schema, f"webhook {name}")


def _path_complaints(
    description: Description, parameters: Iterable[Mapping[str, Any]], values: Mapping[str, str]
) -> Iterator[str]:
    for each in parameters:
        if each["in"] == "path" and each["name"] in values:
            schema = description.resolve(each["schema"])
            yield from description.complaints(_typed(values[each["name"]], schema), schema, f"path {each['name']}")


def _query_complaints(
    description: Description, parameters: Iterable[Mapping[str, Any]], values: Iterable[tuple[str, str]]
) -> Iterator[str]:
    known = {each["name"]: each for each in parameters if each["in"] == "query"}
    for name, value in values:
        if name not in known:
            yield f"GitHub has no query parameter {name}"
            continue
        schema = description.resolve(known[name]["schema"])
        yield from description.complaints(_typed(value, schema), schema, f"query {name}")
    given = {name for name, _ in values}
    yield from (
        f"the query parameter {name} is missing"
        for name, each in known.items()
        if each.get("required") and name not in given
    )


def _body_complaints(description: Description, operation: Mapping[str, Any], asked: Asked) -> Iterator[str]:
    described = description.resolve(operation.get("requestBody", {}))
    if not asked.body:
        if described.get("required"):
            yield "the body is missing"
        return
    if not described:
        # GitHub ignores it, and it is no request that its description knows.
        yield "GitHub takes no body here"
        return
    kind = asked.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        yield f"the body is {kind or 'of no type'}, not application/json"
    schema = described["content"]["application/json"]["schema"]
    try:
        value = json.loads(asked.body)
    except ValueError:
        yield "the body is not JSON"
        return
    yield from description.complaints(value, schema, "body")
    yield from _unknown_fields(description, value, schema, "body")


def _unknown_fields(description: Description, value: object, schema: Mapping[str, Any], where: str) -> Iterator[str]:
    """Fields that the description does not name. GitHub ignores most of them, which is how a misspelt field stays
    unnoticed; so for requests they are faults. An object without described fields, or with `additionalProperties`, is
    free."""
    known = _known_fields(description, schema)
    if isinstance(value, list):
        items = description.resolve(schema).get("items")
        for number, item in enumerate(value):
            yield from _unknown_fields(description, item, items or {}, f"{where}.{number}")
    if not isinstance(value, dict) or known is None:
        return
    for name, item in value.items():
        if name not in known:
            yield f"{where}: GitHub has no field {name}"
        else:
            yield from _unknown_fields(description, item, known[name], f"{where}.{name}")


def _known_fields(description: Description, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The described fields of an object, those of every alternative together; None when any are allowed."""
    resolved = description.resolve(schema)
    found: dict[str, Any] = dict(resolved.get("properties", {}))
    free = bool(resolved.get("additionalProperties", not found))
    for word in ("oneOf", "anyOf", "allOf"):
        for alternative in resolved.get(word, ()):
            more = _known_fields(description, alternative)
            if more is not None:
                found |= {name: each for name, each in more.items() if name not in found}
                free = False
    # `oneOf` alternatives that only constrain `status` allow anything beside it, so they name no limit of their own.
    return None if free and not resolved.get("properties") else found


def _typed(value: str, schema: Mapping[str, Any]) -> object:
    """A parameter's text as the kind of value that is described."""
    kinds = [schema.get("type"), *(each.get("type") for each in schema.get("oneOf", ()))]
    if "integer" in kinds and re.fullmatch(r"-?\d+", value):
        return int(value)
    if "boolean" in kinds and value in ("true", "false"):
        return value == "true"
    return value


def _pattern(path: str) -> re.Pattern[str]:
    """A path as a pattern; only a file's path, a ref and the two ends of a comparison may have slashes."""
    parts = re.split(r"\{(\w+)\}", path)
    wide = ("path", "ref", "basehead")
    pieces = [
        re.escape(part) if number % 2 == 0 else f"(?P<{part}>{'.+' if part in wide else '[^/]+'})"
        for number, part in enumerate(parts)
    ]
    return re.compile("".join(pieces))


def _rooted(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with references into the whole document."""
    text = json.dumps(schema).replace('"$ref": "#/', f'"$ref": "{_BASE}#/')
    rooted: dict[str, Any] = json.loads(text)
    return rooted


def _typed_or_null(validator: Any, types: Any, instance: object, schema: Mapping[str, Any]) -> Iterator[Any]:
    """OpenAPI 3.0's `nullable` (its null is no JSON schema type)."""
    if instance is None and schema.get("nullable"):
        return
    yield from jsonschema.Draft4Validator.VALIDATORS["type"](validator, types, instance, schema)


def _enum_or_null(validator: Any, values: Any, instance: object, schema: Mapping[str, Any]) -> Iterator[Any]:
    if instance is None and schema.get("nullable"):
        return
    yield from jsonschema.Draft4Validator.VALIDATORS["enum"](validator, values, instance, schema)


# The stubs of jsonschema leave `extend` without types.
_extend: Callable[..., Any] = jsonschema.validators.extend
_VALIDATOR = _extend(jsonschema.Draft4Validator, {"type": _typed_or_null, "enum": _enum_or_null})


_FORMATS = jsonschema.FormatChecker(formats=())


@_FORMATS.checks("date-time", raises=ValueError)
def _is_moment(value: object) -> bool:
    """RFC 3339: with a `T` and a zone. Whatever is no text is for `type` to judge."""
    return not isinstance(value, str) or ("T" in value and datetime.fromisoformat(value).tzinfo is not None)


@cache
def load_description() -> Description:
    """The description, read once a process. CI must have npm; elsewhere a machine without it skips."""
    return Description(openapi_document())
