"""What expressions are worth. Calls are another module's; what is not understood stays as it is written."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

from selector.upgrade.operators.evaluation.relations import SIZE_LIMIT, as_set, compared, hashable, operation
from selector.upgrade.operators.evaluation.values import (
    CannotTellError,
    Dtype,
    External,
    Frame,
    Instance,
    Unread,
    Value,
)

_BUILT_IN = frozenset(
    {"all", "any", "callable", "dict", "frozenset", "getattr", "isinstance", "len", "list", "locals", "object", "set",
     "sorted", "str", "super", "tuple"}
)  # fmt: skip


class Expressions(ABC):
    """Works out expressions, `steps` of them at most."""

    def __init__(self, steps: int) -> None:
        self.steps_left = steps

    @abstractmethod
    def call(self, node: ast.Call, frame: Frame) -> Value:
        """What a call gives; `Applied` when it is not carried out."""

    @abstractmethod
    def attribute(self, subject: Value, name: str) -> Value:
        """The attribute of a value. Raises `CannotTellError`."""

    @abstractmethod
    def holds(self, value: Value) -> bool | None:
        """Whether a condition holds; `None`: the text does not tell."""

    @abstractmethod
    def say(self, frame: Frame, node: ast.AST, text: str) -> None:
        """Tell that a database's own text was not understood."""

    def evaluate(self, node: ast.expr, frame: Frame) -> Value:
        """What an expression is worth. Raises `CannotTellError` only when the steps are used up."""
        self.steps_left -= 1
        if self.steps_left < 0:
            raise CannotTellError("it takes too long to work out")
        try:
            return self._worth(node, frame)
        except CannotTellError:
            if self.steps_left < 0:
                raise
            return Unread(node, frame)

    def _worth(self, node: ast.expr, frame: Frame) -> Value:  # noqa: PLR0911 (one for each kind of expression)
        match node:
            case ast.Constant():
                return node.value
            case ast.Name():
                return _named(node.id, frame)
            case ast.Attribute():
                return self.attribute(self.evaluate(node.value, frame), node.attr)
            case ast.Call():
                return self.call(node, frame)
            case ast.Tuple():
                return tuple(self._items(node.elts, frame))
            case ast.List():
                return self._list(node, frame)
            case ast.Set():
                return as_set(self._items(node.elts, frame))
            case ast.Dict():
                return self._dict(node, frame)
            case ast.Subscript():
                return self._item(node, frame)
            case ast.JoinedStr():
                return self._text(node, frame)
            case _:
                return self._worked_out(node, frame)

    def _worked_out(self, node: ast.expr, frame: Frame) -> Value:
        match node:
            case ast.BinOp():
                return operation(node.op, self.evaluate(node.left, frame), self.evaluate(node.right, frame))
            case ast.BoolOp():
                return self._and_or(node, frame)
            case ast.UnaryOp():
                return self._unary(node, frame)
            case ast.Compare() if len(node.ops) == 1:
                return compared(node.ops[0], self.evaluate(node.left, frame), self.evaluate(node.comparators[0], frame))
            case ast.IfExp():
                chosen = self.holds(self.evaluate(node.test, frame))
                if chosen is None:
                    raise CannotTellError("it depends on what is not known")
                return self.evaluate(node.body if chosen else node.orelse, frame)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node, frame)
            case _:
                raise CannotTellError("this part of Python is not worked out")

    def gone_through(self, value: Value) -> Sequence[Value]:
        """What iterating gives. Raises `CannotTellError` for what is not known to the end."""
        if isinstance(value, list | tuple | dict):
            return tuple(value)
        if isinstance(value, set | frozenset):
            return sorted(value, key=str)
        raise CannotTellError("what is gone through is not known")

    def bind(self, target: ast.expr, value: Value, frame: Frame) -> None:
        """Assign to a name, an attribute, an item, or several of these; what is assigned to otherwise is left alone."""
        match target:
            case ast.Name():
                frame.names[target.id] = value
            case ast.Attribute():
                subject = self.evaluate(target.value, frame)
                if isinstance(subject, Instance):
                    subject.fields[target.attr] = value
            case ast.Subscript():
                subject, key = self.evaluate(target.value, frame), self.evaluate(target.slice, frame)
                if isinstance(subject, dict) and isinstance(key, str | int | Dtype | External):
                    subject[key] = value
            case ast.Tuple() | ast.List():
                known = isinstance(value, tuple | list) and len(value) == len(target.elts)
                for place, part in enumerate(target.elts):
                    self.bind(part, value[place] if known else Unread(part, frame), frame)

    def _items(self, nodes: Sequence[ast.expr], frame: Frame) -> Iterator[Value]:
        for node in nodes:
            if isinstance(node, ast.Starred):
                yield from self.gone_through(self.evaluate(node.value, frame))
            else:
                yield self.evaluate(node, frame)

    def _list(self, node: ast.List, frame: Frame) -> list[Value]:
        """A list; that of a database goes on without what is not understood of it."""
        found: list[Value] = []
        for part in node.elts:
            try:
                items = list(self._items([part], frame))
            except CannotTellError as error:
                if frame.around is not None or self.steps_left < 0:
                    raise
                self.say(frame, part, f"of a list, {ast.unparse(part)[:80]}: {error}")
                continue
            found += items
            if frame.around is None and len(items) == 1 and isinstance(items[0], Instance) and not items[0].path:
                items[0].node, items[0].path = part, frame.module.path
        return found

    def _dict(self, node: ast.Dict, frame: Frame) -> dict[Value, Value]:
        found: dict[Value, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            worth = self.evaluate(value, frame)
            if key is None:
                if not isinstance(worth, dict):
                    raise CannotTellError("not all of a dict is known")
                found.update(worth)
            else:
                found[hashable(self.evaluate(key, frame))] = worth
        return found

    def _item(self, node: ast.Subscript, frame: Frame) -> Value:
        subject, key = self.evaluate(node.value, frame), self.evaluate(node.slice, frame)
        if isinstance(subject, dict) and isinstance(key, str | int | Dtype | External) and key in subject:
            return subject[key]
        if isinstance(subject, list | tuple) and isinstance(key, int) and -len(subject) <= key < len(subject):
            return subject[key]
        raise CannotTellError("an item is not known")

    def _text(self, node: ast.JoinedStr, frame: Frame) -> str:
        said = ""
        for part in node.values:
            value = self.evaluate(part.value if isinstance(part, ast.FormattedValue) else part, frame)
            if not isinstance(value, str | int) or len(said) > SIZE_LIMIT:
                raise CannotTellError("not all of a text is known")
            said += str(value)
        return said

    def _and_or(self, node: ast.BoolOp, frame: Frame) -> Value:
        deciding = isinstance(node.op, ast.Or)
        value: Value = None
        open_ones = False
        for part in node.values:
            value = self.evaluate(part, frame)
            known = self.holds(value)
            if known is deciding:
                return value if not open_ones else deciding
            open_ones = open_ones or known is None
        if open_ones:
            raise CannotTellError("it depends on what is not known")
        return value

    def _unary(self, node: ast.UnaryOp, frame: Frame) -> Value:
        value = self.evaluate(node.operand, frame)
        if isinstance(node.op, ast.Not) and (known := self.holds(value)) is not None:
            return not known
        if isinstance(node.op, ast.USub) and isinstance(value, int | float):
            return -value
        raise CannotTellError("it is of something not known")

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, frame: Frame) -> Value:
        inner = Frame(frame.module, {}, frame, frame.owner)
        rounds = self._rounds(node.generators, inner)
        if isinstance(node, ast.DictComp):
            return {hashable(self.evaluate(node.key, inner)): self.evaluate(node.value, inner) for _ in rounds}
        made = (self.evaluate(node.elt, inner) for _ in rounds)
        return as_set(made) if isinstance(node, ast.SetComp) else list(made)

    def _rounds(self, generators: Sequence[ast.comprehension], frame: Frame) -> Iterator[None]:
        """Once for each time that a comprehension makes something, its names bound."""
        if not generators:
            yield
            return
        first, *others = generators
        for value in self.gone_through(self.evaluate(first.iter, frame)):
            self.bind(first.target, value, frame)
            conditions = [self.holds(self.evaluate(condition, frame)) for condition in first.ifs]
            if None in conditions:
                raise CannotTellError("it depends on what is not known")
            if all(conditions):
                yield from self._rounds(others, frame)


def _named(name: str, frame: Frame) -> Value:
    holder = frame.holder(name)
    if holder is not None:
        return holder[name]
    if name in _BUILT_IN:
        return External(f"builtins.{name}")
    raise CannotTellError(f"{name} is not known")
