"""`--fields`: parts of a JSON value, so that a script says what it relies on and gets nothing else.

A field is a key; `run.id` is a key of an object inside, and lists are walked through. Of a page, which is an object
with one list of records, the records' keys may be named directly: the answer is then the list of records.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

import typer

from relay.cli import text
from relay.cli.json_text import Json, to_json

_OPTION = "--fields"


def chosen(value: Json, fields: Sequence[str]) -> Json:
    """`value` with these fields only. Raises a usage error with the fields there are for one that does not exist."""
    plain = json.loads(to_json(value))
    records = _records(plain, fields)
    return _pick(plain if records is None else records, [field.split(".") for field in fields])


def chosen_of_stream(value: Json, fields: Sequence[str], kinds: Sequence[str]) -> Json:
    """The same for one line of several `kinds`, the first part of each field; None when it has none of the fields."""
    for field in fields:
        if field.split(".")[0] not in kinds:
            raise _unknown(field.split(".")[0], kinds)
    plain = json.loads(to_json(value))
    own = [field.split(".") for field in fields if field.split(".")[0] in plain]
    return _pick(plain, own) if own else None


def _records(plain: object, fields: Sequence[str]) -> list[object] | None:
    """The records of a page, when they and not the page have such fields."""
    if not isinstance(plain, dict) or any(field.split(".")[0] in plain for field in fields):
        return None
    lists = [part for part in plain.values() if isinstance(part, list)]
    return lists[0] if len(lists) == 1 and all(isinstance(record, dict) for record in lists[0]) else None


def _pick(value: object, paths: Sequence[Sequence[str]]) -> Json:
    if isinstance(value, list):
        return [_pick(item, paths) for item in value]
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise typer.BadParameter(text.no_fields_inside(".".join(paths[0])), param_hint=_OPTION)
    deeper: dict[str, list[Sequence[str]]] = {}
    for path in paths:
        if path[0] not in value:
            raise _unknown(path[0], value)
        deeper.setdefault(path[0], []).append(path[1:])
    return {key: _pick(value[key], rests) if all(rests) else value[key] for key, rests in deeper.items()}


def _unknown(field: str, known: Iterable[str]) -> typer.BadParameter:
    names = list(known)
    guess = next(iter(get_close_matches(field, names, n=1)), "")
    return typer.BadParameter(text.unknown_field(field, guess, names), param_hint=_OPTION)
