"""Reads a GraphQL document: one query, its fields with aliases and arguments, inline fragments, variables.

It knows the grammar, not what any field means. Named fragments, directives and mutations are refused in words.
Source: https://spec.graphql.org/October2021/#sec-Document-Syntax
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"""[\s,\ufeff]*(?:\#[^\n]*[\s,]*)*(
        \.\.\. | [{}()\[\]:!$=@|] | "(?:[^"\\\n]|\\.)*" | -?\d+(?:\.\d+)? | [_A-Za-z]\w* | $
    )""",
    re.VERBOSE,
)
_DEEPEST = 20


class QueryError(Exception):
    """The document is not GraphQL, or uses what the local GitHub does not know."""


@dataclass(frozen=True)
class Field:
    """A field that is asked for. `on` is the type condition of the fragment around it, "" for none."""

    name: str
    alias: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    on: str = ""


def parse_query(document: str, variables: Mapping[str, object]) -> tuple[Field, ...]:
    """The fields of the document's only query, with variables put in. Raises QueryError."""
    return _Reader(document, variables).document()


class _Reader:
    def __init__(self, document: str, variables: Mapping[str, object]) -> None:
        self._tokens = _tokens(document)
        self._at = 0
        self._variables = dict(variables)

    def document(self) -> tuple[Field, ...]:
        if self._peek() == "query":
            self._take()
            if self._peek() not in ("(", "{"):
                self._take()  # the query's own name
            self._declarations()
        fields = self._selection("", 0)
        if self._peek():
            raise QueryError(f"one query without named fragments is understood, then came {self._peek()!r}")
        return fields

    def _declarations(self) -> None:
        """`($name: Type = default, ...)`: defaults count where no value was sent."""
        if not self._skip("("):
            return
        while not self._skip(")"):
            self._expect("$")
            name = self._name()
            self._expect(":")
            while self._peek() in ("[", "]", "!") or self._peek().isidentifier():
                self._take()
            if self._skip("="):
                self._variables.setdefault(name, self._value())

    def _selection(self, on: str, depth: int) -> tuple[Field, ...]:
        if depth > _DEEPEST:
            raise QueryError("the query is nested too deeply")
        self._expect("{")
        fields: list[Field] = []
        while not self._skip("}"):
            if self._skip("..."):
                fields += self._fragment(depth)
            else:
                fields.append(self._field(on, depth))
        return tuple(fields)

    def _fragment(self, depth: int) -> tuple[Field, ...]:
        if self._take() != "on":
            raise QueryError("only inline fragments are understood (... on Type)")
        return self._selection(self._name(), depth + 1)

    def _field(self, on: str, depth: int) -> Field:
        alias = name = self._name()
        if self._skip(":"):
            name = self._name()
        arguments: dict[str, object] = {}
        if self._skip("("):
            while not self._skip(")"):
                argument = self._name()
                self._expect(":")
                arguments[argument] = self._value()
        fields = self._selection("", depth + 1) if self._peek() == "{" else ()
        return Field(name, alias, arguments, fields, on)

    def _value(self) -> object:
        word = self._take()
        if word == "$":
            name = self._name()
            if name not in self._variables:
                raise QueryError(f"Variable ${name} was not given a value")
            return self._variables[name]
        if word == "[":
            items = []
            while not self._skip("]"):
                items.append(self._value())
            return items
        if word.startswith('"') or word in ("true", "false", "null") or word.lstrip("-")[:1].isdigit():
            return json.loads(word)
        if word.isidentifier():
            return word  # an enum value
        raise QueryError(f"no value begins with {word!r}")

    def _peek(self) -> str:
        return self._tokens[self._at]

    def _take(self) -> str:
        token = self._tokens[self._at]
        if not token:
            raise QueryError("the query ends in the middle")
        self._at += 1
        return token

    def _skip(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _expect(self, token: str) -> None:
        found = self._take()
        if found != token:
            raise QueryError(f"expected {token!r}, found {found!r}")

    def _name(self) -> str:
        name = self._take()
        if not name.isidentifier():
            raise QueryError(f"expected a name, found {name!r}")
        return name


def _tokens(document: str) -> list[str]:
    found: list[str] = []
    at = 0
    while not found or found[-1]:
        match = _TOKEN.match(document, at)
        if match is None:
            raise QueryError(f"unexpected text at {document[at : at + 20]!r}")
        found.append(match.group(1))
        at = match.end()
    return found
