"""Edits of a manifest's text that keep its comments, its order and its layout.

ruamel.yaml writes; what was meant and what came out are both read by our own reader and compared, so that an edit
either does what it says, loses no comment, or is refused. Knows YAML, and nothing of what a manifest means.
"""

from __future__ import annotations

import copy
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedBase, CommentedMap
from ruamel.yaml.error import YAMLError
from ruamel.yaml.scalarstring import PlainScalarString
from ruamel.yaml.tokens import CommentToken

from selector.manifests.document import ManifestDocument, Path, read_document
from selector.manifests.findings import Severity

_LONG = 1_000_000  # columns: no line is wrapped
_COMMENT = re.compile(r"(?:^|\s)(#[^\n]*)", re.MULTILINE)
_FIRST_LIST = re.compile(
    r"^( *)(?:- )?[^\s#-][^\n#]*:[ \t]*(?:#[^\n]*)?\n(?:[ \t]*(?:#[^\n]*)?\n)*( *)- ", re.MULTILINE
)


class EditError(Exception):
    """The text was not changed, because the edit could not be made without changing something else."""


@dataclass(frozen=True, slots=True)
class SetValue:
    """Write a value at a path: in the place of the one there, or as a new key, after the key `after` where given."""

    path: Path
    value: object
    after: str = ""


@dataclass(frozen=True, slots=True)
class Append:
    """Write a value at the end of the list at a path."""

    path: Path
    value: object


@dataclass(frozen=True, slots=True)
class Remove:
    """Take away the key or the item at a path; comments in it are kept in front of what follows."""

    path: Path


Edit = SetValue | Append | Remove


def apply(text: str, edits: Sequence[Edit]) -> str:
    """The text with the edits made. Every path is that in the text as given, whatever the other edits are.

    Raises EditError when the text is no manifest's YAML, a path is not there, or the result would differ in more than
    the edits.
    """
    if not edits:
        return text
    line_end = "\r\n" if "\r\n" in text else "\n"
    plain = text.replace("\r\n", "\n")
    wanted = copy.deepcopy(_data(plain))
    _change(wanted, edits)
    edited = _written(plain, edits)
    if _data(edited) != wanted:
        raise EditError("the edit would change other values too; make it by hand")
    if lost := Counter(_COMMENT.findall(plain)) - Counter(_COMMENT.findall(edited)):
        raise EditError(f"the edit would lose the comment {min(lost)!r}; make it by hand")
    return edited.replace("\n", line_end)


def _data(text: str) -> Any:
    placed, findings = read_document(ManifestDocument("", text))
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if errors:
        raise EditError(f"line {errors[0].line}: {errors[0].message}")
    return placed.data


def _written(text: str, edits: Sequence[Edit]) -> str:
    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = _LONG
    yaml.explicit_start = re.search(r"^---", text, re.MULTILINE) is not None
    offset = _list_offset(text)
    yaml.indent(mapping=2, sequence=offset + 2, offset=offset)
    stream = io.StringIO()
    try:
        root = yaml.load(text)
        _change(root, edits)
        yaml.dump(root, stream)
    except (YAMLError, AttributeError, NotImplementedError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise EditError(f"the text can not be edited without harm ({reason}); make the edit by hand") from error
    return stream.getvalue()


def _list_offset(text: str) -> int:
    """How far the dash of a list stands to the right of the key it belongs to."""
    match = _FIRST_LIST.search(text)
    return max(0, len(match[2]) - len(match[1])) if match else 2


def _change(root: Any, edits: Sequence[Edit]) -> None:
    """Make the edits in plain data or in ruamel's; all paths are looked up before anything is changed."""
    places = [(_container(root, edit), edit) for edit in edits]
    for container, edit in places:
        if isinstance(edit, SetValue):
            _set(container, edit)
        elif isinstance(edit, Append):
            container.append(copy.deepcopy(edit.value))
    removals = [(container, edit.path[-1]) for container, edit in places if isinstance(edit, Remove)]
    # From the end, so that an item that goes does not move those that are still to go.
    for container, key in sorted(removals, key=lambda removal: str(removal[1]).zfill(9), reverse=True):
        _remove(container, key)


def _container(root: Any, edit: Edit) -> Any:
    """What the edit changes: the collection that holds its path's end, or the list it appends to."""
    found = root
    for step in edit.path if isinstance(edit, Append) else edit.path[:-1]:
        found = _inside(found, step, edit)
    if isinstance(edit, Append):
        if not isinstance(found, list):
            raise EditError(f"{_dotted(edit.path)} is no list")
    elif isinstance(edit, Remove) or not isinstance(found, dict):
        _inside(found, edit.path[-1], edit)
    return found


def _inside(collection: Any, step: str | int, edit: Edit) -> Any:
    # A text has items as well, and is no collection.
    items: Any = () if isinstance(collection, str) else collection
    try:
        return items[step]
    except (KeyError, IndexError, TypeError) as error:
        raise EditError(f"there is nothing at {_dotted(edit.path)}") from error


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _set(container: Any, edit: SetValue) -> None:
    key, value = edit.path[-1], copy.deepcopy(edit.value)
    if not _keeps_comments(container):
        container[key] = value
        return
    value = _as_written(container, key, value)
    if isinstance(container, CommentedMap) and key not in container and edit.after in container:
        container.insert(list(container).index(edit.after) + 1, key, value)
    else:
        container[key] = value


def _keeps_comments(container: Any) -> bool:
    """Whether this is ruamel's data, not plain data."""
    return isinstance(container, CommentedBase)


def _keys(container: Any) -> list[Any]:
    return list(container) if isinstance(container, CommentedMap) else list(range(len(container)))


def _as_written(container: Any, key: Any, value: object) -> object:
    """A small float with the dot that YAML 1.1 wants in it, and a text that is already there without its quotes."""
    if isinstance(value, float) and "e" in (number := repr(value)) and "." not in number:
        return YAML().load(number.replace("e", ".0e"))
    if isinstance(value, str) and isinstance(container, CommentedMap) and container.get(key) == value:
        return PlainScalarString(value)
    return value


def _remove(container: Any, key: Any) -> None:
    if not _keeps_comments(container):
        del container[key]
        return
    kept = _lines(_comments(container, key))
    keys = _keys(container)
    position = keys.index(key)
    following = keys[position + 1] if position + 1 < len(keys) else None
    column = container.lc.col
    del container[key]
    if not kept:
        return
    if following is None:
        raise EditError(f"the edit would lose the comment {kept[0]!r}; make it by hand")
    if not isinstance(container, CommentedMap):
        following = position
    container.yaml_set_comment_before_after_key(following, before="\n".join(kept), indent=max(0, column))


def _comments(container: Any, key: Any) -> Iterator[CommentToken]:
    """The comments at a key or an item and below it; some are there twice."""
    yield from _tokens(container.ca.items.get(key))
    inner = container[key]
    if _keeps_comments(inner):
        yield from _tokens(inner.ca.comment)
        for below in _keys(inner):
            yield from _comments(inner, below)


def _lines(comments: Iterator[CommentToken]) -> list[str]:
    """Their texts line by line, without the `#`."""
    different = {id(token): token.value for token in comments}.values()
    lines = (line.strip() for value in different for line in value.split("\n"))
    return [line.removeprefix("#").strip() for line in lines if line]


def _tokens(found: object) -> Iterator[CommentToken]:
    if isinstance(found, CommentToken):
        yield found
    elif isinstance(found, list):
        for item in found:
            yield from _tokens(item)
