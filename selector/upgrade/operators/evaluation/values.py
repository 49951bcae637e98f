"""What an expression of a database can be worth. Strings, numbers, tuples, lists, dicts and sets stand for themselves.

Owns which of two values are known to be equal or the same, and which are known to be true: `None` wherever the text
does not tell.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: Any of the classes below, or a plain Python value that holds such.
Value = Any

_DTYPE = re.compile(r"torch\.((?:b?float|q?u?int|b?complex)\d+(?:_\w+|x\d)?|bool)")
_ALIASES = {
    "half": "float16", "float": "float32", "double": "float64", "short": "int16", "int": "int32", "long": "int64",
    "chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128",
}  # fmt: skip
#: What the test library calls facts about the machine, which decide on decorators and rarely on more.
_FLAG = re.compile(r"torch\.testing\._internal\.common_\w+\.(?:TEST|IS|HAS|RUN|PLATFORM|SM\d+|USE)[A-Z_]*\w*")


class CannotTellError(Exception):
    """The text does not tell what comes of it; the message says where it stops."""


@dataclass(frozen=True, slots=True)
class Dtype:
    """`float16` of `torch.half`."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something outside the texts that are read, by its dotted name."""

    name: str

    @property
    def is_flag(self) -> bool:
        """Whether it says something about the machine that runs the tests."""
        return _FLAG.fullmatch(self.name) is not None


@dataclass(eq=False, repr=False, slots=True)
class Module:
    """A file of the tree whose statements were followed; `path` is its place in the tree."""

    path: str
    dotted: str
    names: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False, repr=False, slots=True)
class Frame:
    """The names of a running function, or of a module (`around` is `None`), and the frame they stand in. `owner` is the
    class whose method runs."""

    module: Module
    names: dict[str, Value]
    around: Frame | None = None
    owner: Class | None = None

    def holder(self, name: str) -> dict[str, Value] | None:
        """The names among which `name` is found, the innermost first."""
        frame: Frame | None = self
        while frame is not None:
            if name in frame.names:
                return frame.names
            frame = frame.around
        return None


@dataclass(eq=False, repr=False, slots=True)
class Function:
    """A function of the tree. `frame` is where it is written."""

    node: ast.FunctionDef
    frame: Frame
    owner: Class | None = None


@dataclass(eq=False, repr=False, slots=True)
class Class:
    """A class of the tree; `frame` holds its module's names. `defaults` are those of its fields once worked out."""

    node: ast.ClassDef
    frame: Frame
    bases: tuple[Value, ...]
    defaults: dict[str, Value] = field(default_factory=dict)

    def line(self) -> list[Class]:
        """Itself and the classes of the tree that it inherits from; upstream's entries inherit from one each."""
        found = [self]
        for base in self.bases:
            found += [parent for parent in base.line() if parent not in found] if isinstance(base, Class) else []
        return found

    def is_a(self, name: str) -> bool:
        """Whether it or what it inherits from is called so, a built-in class included."""
        return any(cls.node.name == name or External(f"builtins.{name}") in cls.bases for cls in self.line())


@dataclass(eq=False, repr=False, slots=True)
class Instance:
    """An object of a class of the tree. `node` is the expression that made it, in the file at `path`."""

    cls: Class
    fields: dict[str, Value]
    path: str = ""
    node: ast.expr | None = None


@dataclass(eq=False, repr=False, slots=True)
class Super:
    """What `super()` gives in a method of `owner`."""

    instance: Instance
    owner: Class


@dataclass(eq=False, repr=False, slots=True)
class Bound:
    """A method together with what it is called on; `function` is the name of a method of a plain value."""

    subject: Value
    function: Function | str


@dataclass(eq=False, repr=False, slots=True)
class Applied:
    """A call that is not carried out."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value]


@dataclass(eq=False, repr=False, slots=True)
class Unread:
    """An expression that is not worked out, and the names it stands among."""

    node: ast.AST
    frame: Frame


def external(name: str) -> Dtype | External:
    """What a dotted name outside the texts stands for."""
    if not name.startswith("torch."):
        return External(name)
    found = _DTYPE.fullmatch("torch." + _ALIASES.get(name[6:], name[6:]))
    return Dtype(found.group(1)) if found else External(name)


def is_plain(value: Value) -> bool:
    """Whether it is worked out to the end, so that it compares like in Python."""
    if isinstance(value, tuple | list | set | frozenset):
        return all(map(is_plain, value))
    return value is None or isinstance(value, str | int | float | complex | bytes | Dtype)


def truth(value: Value) -> bool | None:
    """Whether it is true; `None`: the text does not tell."""
    if isinstance(value, tuple | list | set | frozenset | dict | str | int | float | complex | bytes) or value is None:
        return bool(value)
    if isinstance(value, Unread):
        return True if isinstance(value.node, ast.Lambda) else None
    if isinstance(value, Applied):
        return True if value.function == External("functools.partial") else None
    return True if isinstance(value, Function | Class | Instance | Dtype | Module | Bound) else None


def same(one: Value, other: Value) -> bool | None:
    """What `is` says of them."""
    if one is other or (is_plain(one) and is_plain(other)):
        return one is other or (one == other and type(one) is type(other))
    if one is None or other is None:
        return None if _may_be_none(other if one is None else one) else False
    return (
        False
        if isinstance(one, Instance | Function | Class) or isinstance(other, Instance | Function | Class)
        else None
    )


def _may_be_none(value: Value) -> bool:
    """What other modules define is something; what they tell about the machine or the build may be nothing."""
    if isinstance(value, External):
        return value.is_flag or ".version." in value.name
    return truth(value) is None


def equal(one: Value, other: Value) -> bool | None:
    """What `==` says of them."""
    if is_plain(one) and is_plain(other):
        return bool(one == other)
    return True if one is other else None
