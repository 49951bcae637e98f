"""How values travel between the two sides: one JSON object each, read with suspicion.

Whoever reads must expect garbage and lies, because untrusted test code runs beside every writer. `decode` answers None
to everything that is not one of the language's values in the right shape; whether it makes sense, the reader knows.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Value = TypeVar("Value", bound=DataclassInstance)
else:
    Value = TypeVar("Value")


class Language(Generic[Value]):
    """The dataclasses that may be said. Their fields are texts, numbers, booleans, None and lists of these."""

    def __init__(self, *kinds: type[Value]) -> None:
        self._kinds = {kind.__name__: kind for kind in kinds}
        self._shapes = {name: get_type_hints(kind) for name, kind in self._kinds.items()}

    def encode(self, value: Value) -> bytes:
        """One line without its end."""
        return json.dumps({"says": type(value).__name__, **asdict(value)}).encode()

    def decode(self, data: bytes) -> Value | None:
        """The value, or None."""
        try:
            fields = json.loads(data)
        except (ValueError, RecursionError):
            return None
        if not isinstance(fields, dict):
            return None
        name = fields.pop("says", None)
        shape = self._shapes.get(name) if isinstance(name, str) else None
        if shape is None or fields.keys() != shape.keys():
            return None
        if not all(_fits(fields[key], kind) for key, kind in shape.items()):
            return None
        return self._kinds[name](**fields)


def _fits(value: object, kind: Any) -> bool:
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return isinstance(value, list) and all(_fits(part, inner) for part in value)
    return isinstance(value, kind)
