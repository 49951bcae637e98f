"""The schema of a manifest as JSON Schema, for editors and other tools. Made from the models; owns no rule of its own.

As lax as the models, which take numbers and booleans written as text. What JSON Schema can not say (that a pattern
compiles, which argument an `init` needs) is left to `check.py`: whatever the models accept, the schema accepts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import core_schema

from selector.manifests.inputs import TensorSpec
from selector.manifests.schema import Manifest

_DIGITS = r"\d[\d_]*"
_INFINITY = r"[Ii][Nn][Ff]([Ii][Nn][Ii][Tt][Yy])?|[Nn][Aa][Nn]"
_NUMBER_TEXT = rf"^\s*[+-]?(({_DIGITS}\.?[\d_]*|\.{_DIGITS})([eE][+-]?\d+)?|{_INFINITY})\s*$"
_WHOLE_TEXT = rf"^\s*[+-]?{_DIGITS}(\.0*)?\s*$"
_BOOL_WORDS = ("true", "false", "yes", "no", "on", "off", "t", "f", "y", "n", "1", "0")
_BOOL_TEXT = f"^({'|'.join(''.join(f'[{char.upper()}{char}]' for char in word) for word in _BOOL_WORDS)})$"
_PREFIX = "torch."


def json_schema() -> dict[str, Any]:
    """The schema, draft 2020-12. Unknown keys are allowed as in the models, inside a tensor they are not."""
    schema = Manifest.model_json_schema(by_alias=True, schema_generator=_Lax, mode="validation")
    schema["$defs"][TensorSpec.__name__]["additionalProperties"] = False
    return {"$schema": _Lax.schema_dialect, **schema}


class _Lax(GenerateJsonSchema):
    """Says of every field what its validator takes, not only what it makes of it."""

    def generate(self, schema: core_schema.CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        return cast(JsonSchemaValue, _without_titles(super().generate(schema, mode)))

    def float_schema(self, schema: core_schema.FloatSchema) -> JsonSchemaValue:
        return _any_of(super().float_schema(schema), {"type": "boolean"}, {"type": "string", "pattern": _NUMBER_TEXT})

    def int_schema(self, schema: core_schema.IntSchema) -> JsonSchemaValue:
        return _any_of(super().int_schema(schema), {"type": "boolean"}, {"type": "string", "pattern": _WHOLE_TEXT})

    def bool_schema(self, schema: core_schema.BoolSchema) -> JsonSchemaValue:
        return _any_of(super().bool_schema(schema), {"enum": [0, 1]}, {"type": "string", "pattern": _BOOL_TEXT})

    def function_before_schema(self, schema: core_schema.BeforeValidatorFunctionSchema) -> JsonSchemaValue:
        """What a function in front of a field reshapes is accepted as well; the function is asked, not its name."""
        inner = self.generate_inner(schema["schema"])
        if schema["function"]["type"] != "no-info":
            return inner
        return _any_of(inner, *_accepted(cast(Callable[[object], object], schema["function"]["function"]), inner))


def _accepted(function: Callable[[object], object], inner: JsonSchemaValue) -> Iterator[JsonSchemaValue]:
    if _reshapes(function, "text"):
        yield {"type": "string"}
    if _reshapes(function, f"{_PREFIX}text") and "enum" in inner:
        yield {"enum": [f"{_PREFIX}{name}" for name in inner["enum"]]}
    if _reshapes(function, None):
        yield {"type": "null"}
    if _reshapes(function, {}) and "items" in inner:
        yield inner["items"]


def _reshapes(function: Callable[[object], object], value: object) -> bool:
    try:
        return function(value) != value
    except ValueError:  # a validator that refuses the value
        return False


def _any_of(*schemas: Mapping[str, Any]) -> JsonSchemaValue:
    return {"anyOf": [dict(schema) for schema in schemas]} if len(schemas) > 1 else dict(schemas[0])


def _without_titles(schema: object) -> object:
    """Titles repeat the names of keys; a property that is called `title` stays."""
    if isinstance(schema, list):
        return [_without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without_titles(value) for key, value in schema.items() if key != "title" or isinstance(value, dict)}
