"""Checks the data of one manifest against the schema and says what is wrong in sentences, each with its place.

Unknown keys are ignored by the framework that these manifests come from, so they are warnings here; inside a tensor
spec they are errors there and here (`oot-manifests.md` 1.1).
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from selector.collector import collector_paused
from selector.manifests.document import Path, Placed
from selector.manifests.findings import Finding, Severity, did_you_mean, shown
from selector.manifests.inputs import TensorSpec
from selector.manifests.oddities import oddities
from selector.manifests.schema import Edits, Entry, GlobalConfig, Manifest, ModuleInclude, OpInclude

SCHEMA = "schema"
INVALID_NAME = "invalid-name"
UNKNOWN_KEY = "unknown-key"

_UNKNOWN_KEY_ERRORS = frozenset({"extra_forbidden", "invalid_key"})
#: Described in RFC 1287 and read by no code (`oot-manifests.md` 1.5, 1.12).
_PROSE_ONLY = frozenset(
    {(Entry, "selectors"), (Edits, "inputs"), (GlobalConfig, "devices"), (Entry, "replace"), (Edits, "replace")}
)
_WANTED = {
    "string_type": "text",
    "list_type": "a list",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "greater_than_equal": "zero or more",
}


def check(placed: Placed) -> tuple[Manifest | None, list[Finding]]:
    """The manifest, or None when there is an error among the findings."""
    with collector_paused():
        return _check(placed)


def _check(placed: Placed) -> tuple[Manifest | None, list[Finding]]:
    try:
        # First as if unknown keys were errors, to hear of all of them with their paths.
        manifest = Manifest.model_validate(placed.data, extra="forbid")
    except ValidationError as error:
        findings = [_finding(placed, details) for details in error.errors(include_url=False) if not _parked(details)]
        if any(finding.severity is Severity.ERROR for finding in findings):
            return None, findings
        manifest = Manifest.model_validate(placed.data, extra="ignore")
        return manifest, [*findings, *oddities(placed, manifest)]
    return manifest, list(oddities(placed, manifest))


def _parked(details: ErrorDetails) -> bool:
    """`x-...` at the top is where people park anchors; it is nobody's misspelling."""
    path = details["loc"]
    return details["type"] in _UNKNOWN_KEY_ERRORS and len(path) == 1 and str(path[0]).startswith("x-")


def _finding(placed: Placed, details: ErrorDetails) -> Finding:
    path = details["loc"]
    if details["type"] not in _UNKNOWN_KEY_ERRORS:
        rule = INVALID_NAME if details["type"] == "value_error" and path[-2:-1] == ("names",) else SCHEMA
        return placed.finding(placed.place(path), _sentence(path, details), rule=rule)
    # A key that is no text (`3: x`) is an index to pydantic and text to us.
    key_path = (*path[:-1], str(path[-1]))
    model = _model_at(path[:-1])
    known = _keys(model)
    message = f"unknown key {shown(path[-1])}{did_you_mean(path[-1], known)}"
    if model is TensorSpec:
        only = f"{message}; a tensor takes only {', '.join(known)}"
        return placed.finding(placed.key_place(key_path), only, rule=UNKNOWN_KEY)
    rule, reason = _ignored(model, str(path[-1]))
    ignored = f"{message}, ignored{reason or '; known here: ' + ', '.join(known)}"
    return placed.finding(placed.key_place(key_path), ignored, Severity.WARNING, rule)


def _ignored(model: type[BaseModel] | None, key: str) -> tuple[str, str]:
    """The rule that a key breaks which no code reads, and what it says beyond that."""
    if key == "kwargs" and model in {OpInclude, ModuleInclude}:
        return "misplaced-kwargs", ": it belongs inside `sample_inputs_func`; the sample runs without these arguments"
    if (model, key) in _PROSE_ONLY:
        return "inert-key", ": it stands in the framework's RFC only"
    return ("unknown-section" if model is Edits else UNKNOWN_KEY), ""


def _sentence(path: Path, details: ErrorDetails) -> str:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    subject = _subject(path)
    if kind == "missing":
        return f"the key {subject} is missing"
    if kind in {"enum", "literal_error"}:
        allowed = str(context["expected"])
        hint = did_you_mean(value, allowed.replace("'", "").replace(" or ", ", ").split(", "))
        return f"{subject} must be {allowed}, not {shown(value)}{hint}"
    if kind == "value_error":
        return f"{subject}: {_value_error(value, context)}"
    if wanted := _WANTED.get(kind):
        hint = "; quote it" if kind == "string_type" and isinstance(value, bool | int | float) else ""
        return f"{subject} must be {wanted}, not {shown(value)}{hint}"
    return f"{subject}: {details['msg']}"


def _value_error(value: object, context: dict[str, Any]) -> str:
    reason = str(context["error"])
    return f"{shown(value)}: {reason}" if isinstance(value, str) else reason


def _subject(path: Path) -> str:
    if not path:
        return "the manifest"
    *_, last = path
    if isinstance(last, str):
        return f"`{last}`"
    owner = next((part for part in reversed(path) if isinstance(part, str)), "")
    return f"item {last + 1} of `{owner}`"


def _model_at(path: Path) -> type[BaseModel] | None:
    model: type[BaseModel] | None = Manifest
    for part in path:
        if model is None or isinstance(part, int):
            continue
        fields = model.model_fields.items()
        model = next((_model_in(field.annotation) for name, field in fields if (field.alias or name) == part), None)
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model in `tuple[Model, ...]`, `Model | None` and the like."""
    if get_origin(annotation) is None:
        return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None
    return next((found for argument in get_args(annotation) if (found := _model_in(argument))), None)


def _keys(model: type[BaseModel] | None) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()] if model else []
