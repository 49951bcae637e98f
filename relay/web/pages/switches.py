"""Addresses with some parameters changed, and links that change one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

Value = str | int | None
Given = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Switch:
    """One of several links; `current` is where the reader is."""

    label: str
    href: str
    current: bool


def address(path: str, given: Given, changes: Given | None = None, fragment: str = "") -> str:
    """A page's address with some parameters changed, without those that say nothing."""
    values = {name: value for name, value in {**given, **(changes or {})}.items() if value}
    query = f"?{urlencode(values)}" if values else ""
    return f"{quote(path)}{query}{f'#{fragment}' if fragment else ''}"


def switches(path: str, given: Given, name: str, options: Iterable[tuple[str | int, str]]) -> tuple[Switch, ...]:
    """A link for each value of a parameter."""
    return tuple(
        Switch(label, address(path, given, {name: value}), (given.get(name) or "") == (value or ""))
        for value, label in options
    )


def github(repo: str, *more: str | int) -> str:
    """Where a repository, or something of it, is on GitHub."""
    return "/".join(["https://github.com", quote(repo), *(quote(str(part), safe="") for part in more)])
