"""What one asks an operation and what it answers, by example: found for its models, and shown where tools look.

An example of a model comes from the class itself or from `relay.web.description.examples`. Of parameters those that an
address needs are shown, and all of it once more as a command to copy.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from relay.web.description.examples import EXAMPLES, PARAMETERS, examples_of_classes

_JSON = "application/json"
#: A longer body is a file's.
_BODY_SHOWN = 400


def known_examples() -> Mapping[str, object]:
    """Examples of models by their names."""
    return {**EXAMPLES, **examples_of_classes()}


def show_examples(operation: dict[str, Any], known: Mapping[str, object]) -> None:
    """Put an example to each body and to each parameter that has one."""
    for content in _contents(operation):
        if "example" not in content and "examples" not in content:
            schema = content.get("schema", {})
            own = schema.get("examples")
            name = _name(schema)
            if own or name in known:
                content["example"] = own[0] if own else known[name]
    for parameter in operation.get("parameters", ()):
        examples = parameter.get("schema", {}).get("examples")
        if examples:
            parameter["example"] = examples[0]
        elif parameter["name"] in PARAMETERS:
            parameter.setdefault("example", PARAMETERS[parameter["name"]])


def _contents(operation: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for holder in (operation.get("requestBody", {}), *operation["responses"].values()):
        if _JSON in holder.get("content", {}):
            yield holder["content"][_JSON]


def _name(schema: Mapping[str, Any]) -> str:
    """The model that a schema refers to, also where the body may be left out."""
    one = next((part for part in schema.get("anyOf", ()) if "$ref" in part), schema)
    return str(one.get("$ref", "")).rpartition("/")[2]


def command(method: str, path: str, operation: Mapping[str, Any]) -> str:
    """The operation as a command of `curl`, with its examples."""
    address, query = path, []
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            value = quote(str(parameter.get("example", "")), safe="")
            address = address.replace(f"{{{parameter['name']}}}", value)
        elif parameter["in"] == "query" and (parameter.get("required") or "examples" in parameter["schema"]):
            query.append((parameter["name"], parameter.get("example", "")))
    asked = f"?{urlencode(query)}" if query else ""
    return " ".join(["curl", *_how(method, operation), f'"$RELAY_URL{address}{asked}"'])


def _how(method: str, operation: Mapping[str, Any]) -> Iterator[str]:
    content = operation.get("requestBody", {}).get("content", {}).get(_JSON)
    if method != ("GET" if content is None else "POST"):
        yield f"-X {method}"
    if "text/event-stream" in operation["responses"].get("200", {}).get("content", {}):
        yield "-N"
    if operation.get("security"):
        yield '-H "Authorization: Bearer $RELAY_TOKEN"'
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "header" and "example" in parameter:
            header = f"{parameter['name']}: {parameter.get('example', '')}"
            yield f"-H {shlex.quote(header)}"
    if content is not None:
        body = json.dumps(content.get("example", {}))
        yield "-H 'Content-Type: application/json'"
        yield f"-d {shlex.quote(body)}" if len(body) <= _BODY_SHOWN else "-d @body.json"
