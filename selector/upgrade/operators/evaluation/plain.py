"""The built-in functions and the methods of plain values that databases use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from selector.upgrade.operators.evaluation.expressions import Expressions
from selector.upgrade.operators.evaluation.relations import SIZE_LIMIT, as_set
from selector.upgrade.operators.evaluation.values import (
    Applied,
    Bound,
    CannotTellError,
    Class,
    External,
    Frame,
    Function,
    Instance,
    Super,
    Unread,
    Value,
    is_plain,
    truth,
)

_OF_TEXT = frozenset({"split", "startswith", "endswith", "removeprefix", "removesuffix", "lower", "upper", "replace"})
_OF_DICT = frozenset({"copy", "get", "items", "keys", "setdefault", "update", "values"})
_OF_LIST = frozenset({"append", "copy", "extend"})


class PlainCalls(Expressions):
    """Carries out calls of what Python itself has."""

    def built_in(  # noqa: PLR0911 (one for each function)
        self, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], frame: Frame
    ) -> Value:
        """What a built-in function of Python gives; `Applied` for one that is not worked out."""
        match name, arguments:
            case "locals", ():
                return dict(frame.names)
            case "super", () if frame.owner is not None:
                return Super(next(iter(frame.names.values())), frame.owner)
            case "super", (Class() as owner, Instance() as instance):
                return Super(instance, owner)
            case "dict", ():
                return dict(keywords)
            case "dict", (dict() as given,):
                return {**given, **keywords}
            case (("list" | "tuple" | "set" | "frozenset" | "sorted" | "any" | "all" | "len"), (given, *_)):
                return self._of_items(name, self.gone_through(given))
            case (("list" | "tuple" | "set" | "frozenset"), ()):
                return self._of_items(name, ())
            case "getattr", (subject, str() as attribute, *default):
                return self._attribute_or(subject, attribute, default)
            case "isinstance", (subject, kind):
                return _is_instance(subject, kind)
            case "callable", (subject,) if truth(subject) is not None:
                return isinstance(subject, Function | Class | Bound | Unread)
            case _:
                return Applied(External(f"builtins.{name}"), arguments, keywords)

    def _attribute_or(self, subject: Value, name: str, default: Sequence[Value]) -> Value:
        if default and isinstance(subject, External):
            raise CannotTellError(f"it is not known whether {subject.name} has {name}")
        try:
            return self.attribute(subject, name)
        except CannotTellError:
            if isinstance(subject, Instance) and default:
                return default[0]
            raise

    def _of_items(self, name: str, items: Sequence[Value]) -> Value:
        match name:
            case "list":
                return list(items)
            case "tuple":
                return tuple(items)
            case "set" | "frozenset":
                return as_set(iter(items))
            case "len":
                return len(items)
            case "any" | "all":
                answers = [self.holds(item) for item in items]
                if None in answers:
                    raise CannotTellError("it depends on what is not known")
                return any(answers) if name == "any" else all(answers)
            case _:
                if not all(isinstance(item, str) for item in items):
                    raise CannotTellError("the order is not known")
                return sorted(items)


def has_method(value: Value, name: str) -> bool:
    """Whether it is a method of a plain value that is worked out."""
    known = {str: _OF_TEXT, dict: _OF_DICT, list: _OF_LIST}
    return any(isinstance(value, kind) and name in names for kind, names in known.items())


def call_method(subject: Value, name: str, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
    """Call a method of a text, dict or list. Raises `CannotTellError`."""
    if isinstance(subject, str):
        if keywords or not all(isinstance(argument, str) for argument in arguments):
            raise CannotTellError("not all of a text is known")
        return getattr(subject, name)(*arguments)
    if keywords or not _fits(subject, name, arguments):
        raise CannotTellError("what is asked for is not known")
    found = getattr(subject, name)(*arguments)
    return list(found) if name in ("items", "keys", "values") else found


def _fits(subject: Value, name: str, arguments: Sequence[Value]) -> bool:
    """Whether a method can be called like this, and leaves nothing unknown behind."""
    match name, arguments:
        case "extend" | "update", (added,):
            return isinstance(added, dict if name == "update" else list | tuple) and len(added) < SIZE_LIMIT
        case "get" | "setdefault", (key, *default):
            return is_plain(key) and not isinstance(key, list | set) and len(default) < 2
        case "append", (_,):
            return len(subject) < SIZE_LIMIT
        case _:
            return not arguments and name not in ("extend", "update", "get", "setdefault", "append")


def _is_instance(subject: Value, kind: Value) -> bool:
    if isinstance(kind, tuple):
        return any(_is_instance(subject, one) for one in kind)
    if isinstance(subject, Instance) and isinstance(kind, Class):
        return kind in subject.cls.line()
    if is_plain(subject) and isinstance(kind, External) and kind.name.startswith("builtins."):
        return type(subject).__name__ == kind.name.partition(".")[2]
    raise CannotTellError("the class of it is not known")
