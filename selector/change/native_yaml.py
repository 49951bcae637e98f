"""`native_functions.yaml`, `derivatives.yaml` and `tags.yaml`, compared entry by entry.

The files are cut at their list items and only items whose text differs are parsed as YAML, so that a change of one line
costs one line and not 15,000. An item that is no YAML is a fact of unknown effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import yaml

from selector.change.backends import backend_of_key
from selector.change.facts import Effect, Fact, FactKind

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_ITEM = re.compile(r"^- (?:func|name|tag): *(.*)$")
_COMMENT = re.compile(r"(^|\s)#[^'\"]*$")
_QUOTE = re.compile(r"['\"]")
_SCHEMA = re.compile(r"([\w:]+(?:\.\w+)?)\s*\(")
_DISPATCHED = re.compile(r"^    ([A-Z][\w, ]*): *([\w:]+)")
_STRUCTURE = frozenset({"structured", "structured_delegate", "structured_inherits", "precomputed"})
_ITEM_KIND = {"func": FactKind.NATIVE_FUNCTION, "name": FactKind.DERIVATIVE, "tag": FactKind.TAG}
_NO_INPUT = frozenset({"name", "output_differentiability", "dispatch"})


@dataclass(frozen=True, slots=True)
class Item:
    """One list item: the text of its lines without comments, and the line it starts at."""

    text: str
    line: int


def is_operator_yaml(path: str) -> bool:
    """Whether a path is one of these files, in the source tree or as a wheel packs it."""
    return path.rpartition("/")[2] in ("native_functions.yaml", "derivatives.yaml", "tags.yaml")


def base_name(name: str) -> str:
    """`add` of `add.Tensor` and of `add_.Tensor`, which does the same in place; `__iand__` is a name of its own."""
    base = name.partition(".")[0]
    return base if base.endswith("__") else base.removesuffix("_") or base


def compare_yaml(path: str, base: str, head: str) -> Iterator[Fact]:
    """One fact per changed item and effect, in the order of the new file, removed items last."""
    before, after = _items(base), _items(head)
    for name, item in after.items():
        old = before.get(name)
        if old is None:
            yield from _whole(path, item, "added")
        elif old.text != item.text:
            yield from _changed(path, old, item)
    for name, item in before.items():
        if name not in after:
            yield from _whole(path, item, "removed")
    yield from _reordered(path, before, after)


def kernels(text: str) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """For each kernel that `native_functions.yaml` names: pairs of operator with overload, and dispatch keys."""
    found: dict[str, list[tuple[str, str]]] = {}
    operator = ""
    for line in text.split("\n"):
        if line.startswith("- func:"):
            match = _SCHEMA.search(line)
            operator = match[1] if match else ""
        elif operator and (match := _DISPATCHED.match(line)):
            found.setdefault(match[2].rpartition("::")[2], []).append((operator, match[1]))
    return {kernel: tuple(users) for kernel, users in found.items()}


def operators(text: str) -> frozenset[str]:
    """Names without overload of the operators in `native_functions.yaml`."""
    matches = (_SCHEMA.search(line) for line in text.split("\n") if line.startswith("- func:"))
    return frozenset(base_name(match[1]) for match in matches if match)


def _reordered(path: str, before: Mapping[str, Item], after: Mapping[str, Item]) -> Iterator[Fact]:
    """Overloads of one operator in another order: the Python binding tries them in that order."""
    old, new = (_overloads([name for name in side if name in before and name in after]) for side in (before, after))
    for operator, names in new.items():
        if names != old[operator]:
            line = after[names[0]].line
            yield Fact(
                path, FactKind.NATIVE_FUNCTION, operator, operator, Effect.SCHEMA, line, "order of its overloads"
            )


def _overloads(names: list[str]) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(base_name(name), []).append(name)
    return found


def _items(text: str) -> dict[str, Item]:
    """Items by name; a second item of the same name gets a number behind it. Comments are not part of an item."""
    found: dict[str, Item] = {}
    name, start, lines = "", 0, list[str]()
    for number, line in enumerate([*text.replace("\r\n", "\n").split("\n"), "- name: "], start=1):
        match = _ITEM.match(line)
        if match is None:
            lines.append(line)
            continue
        item = Item(_without_comments(lines), max(start, 1))
        if start or item.text:  # what stands before the first item is kept when it is more than comments
            _keep(found, name, item)
        name, start, lines = _label(match[1]), number, [line]
    return found


def _keep(found: dict[str, Item], name: str, item: Item) -> None:
    key, place = name, 1
    while key in found:
        place += 1
        key = f"{name} ({place})"
    found[key] = item


def _label(rest: str) -> str:
    match = _SCHEMA.match(rest)
    return match[1] if match else rest.strip()


def _without_comments(lines: list[str]) -> str:
    # a `#` behind a quote may be text; such a line is left whole, and parsing it tells
    kept = (line if line.lstrip()[:1] != "#" and _QUOTE.search(line) else _COMMENT.sub("", line) for line in lines)
    kept = (line.rstrip() for line in kept if not line.lstrip().startswith("#"))
    return "\n".join(line for line in kept if line)


def _parse(item: Item) -> Mapping[str, object] | None:
    try:
        parsed = yaml.load(item.text, Loader=_Loader)  # noqa: S506 - both loaders are safe ones
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    entry = parsed[0] if isinstance(parsed, list) and parsed else None
    return {str(key): value for key, value in entry.items()} if isinstance(entry, dict) else None


def _whole(path: str, item: Item, what: str) -> Iterator[Fact]:
    parsed = _parse(item)
    if parsed is None:
        yield _unparsed(path, item)
        return
    kind, name = _identity(parsed)
    effect = Effect.GRADIENT if kind is FactKind.DERIVATIVE else Effect.SCHEMA
    yield Fact(path, kind, name, _operator(kind, name), effect, item.line, what)


def _changed(path: str, old: Item, new: Item) -> Iterator[Fact]:
    before, after = _parse(old), _parse(new)
    if before is None or after is None:
        yield _unparsed(path, new)
        return
    kind, name = _identity(after)
    fields = sorted(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
    effects: dict[Effect, list[str]] = {}
    for field in fields:
        if field == "dispatch" and kind is FactKind.NATIVE_FUNCTION:
            for effect, words in _dispatch(before.get(field), after.get(field)):
                effects.setdefault(effect, []).append(words)
        else:
            effects.setdefault(_effect(kind, field), []).append(field)
    for effect, words_ in effects.items():
        yield Fact(path, kind, name, _operator(kind, name), effect, new.line, f"changed: {', '.join(words_)[:300]}")


def _effect(kind: FactKind, field: str) -> Effect:
    if kind is FactKind.DERIVATIVE:
        return Effect.GRADIENT
    return Effect.BEHAVIOUR if field in _STRUCTURE else Effect.SCHEMA


def _dispatch(before: object, after: object) -> Iterator[tuple[Effect, str]]:
    """What happened to each dispatch key, `CUDA: add_sparse -> add_dense`."""
    old, new = _by_key(before), _by_key(after)
    for key in sorted(old.keys() | new.keys()):
        if old.get(key) != new.get(key):
            effect = Effect.OTHER_BACKEND if backend_of_key(key) else Effect.BEHAVIOUR
            yield effect, f"{key}: {old.get(key, 'none')} -> {new.get(key, 'none')}"


def _by_key(dispatch: object) -> dict[str, str]:
    if not isinstance(dispatch, dict):
        return {}
    return {key.strip(): str(kernel) for keys, kernel in dispatch.items() for key in str(keys).split(",")}


def _identity(entry: Mapping[str, object]) -> tuple[FactKind, str]:
    field = next((field for field in _ITEM_KIND if field in entry), "name")
    text = str(entry.get(field, ""))
    match = _SCHEMA.match(text)
    return _ITEM_KIND[field], match[1] if match else text.strip()


def _operator(kind: FactKind, name: str) -> str:
    return "" if kind is FactKind.TAG else base_name(name)


def _unparsed(path: str, item: Item) -> Fact:
    return Fact(path, FactKind.UNKNOWN, "", "", Effect.UNKNOWN, item.line, "the item is not understood")
