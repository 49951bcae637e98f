"""Statements: what they leave in the names of a module or function. And modules, each followed once, when asked for.

A condition about the machine that would run the tests (`TEST_WITH_ROCM`) counts as one that does not hold. Another one
that is not known changes nothing, but what its branches assign is not known afterwards.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from selector.source import parse_module
from selector.trees import SourceTree
from selector.upgrade.operators.evaluation.calls import Calls
from selector.upgrade.operators.evaluation.values import (
    CannotTellError,
    Class,
    External,
    Frame,
    Function,
    Module,
    Unread,
    Value,
    external,
    truth,
)

#: Expressions that are worked out for one tree; upstream's databases take a seventh of it.
STEPS = 20_000_000
_NOTE_LIMIT = 50
#: Of the conditions about the machine, those that hold.
_HOLD = frozenset({"IS_LINUX"})


class _ReturnedError(Exception):
    """A function has ended with `value`."""

    def __init__(self, value: Value) -> None:
        self.value = value


class Interpreter(Calls):
    """The texts of `tree` that `follows` says are to be followed, by their path. `notes` tells what was not understood,
    `assumed` the conditions that were taken not to hold."""

    def __init__(self, tree: SourceTree, follows: Callable[[str], bool], steps: int = STEPS) -> None:
        super().__init__(steps)
        self._tree = tree
        self._follows = follows
        self._modules: dict[str, Module | None] = {}
        self.notes: list[str] = []
        self.assumed: set[str] = set()

    def module(self, dotted: str) -> Module | None:
        """A module after all its statements, or so far as they have been followed; `None` for one that is not."""
        if dotted not in self._modules:
            self._modules[dotted] = None
            for path in (dotted.replace(".", "/") + ending for ending in (".py", "/__init__.py")):
                text = self._tree.read(path) if self._follows(path) else None
                parsed = None if text is None else parse_module(text)
                if parsed is not None:
                    self._modules[dotted] = module = Module(path, dotted)
                    self._execute_module(parsed.body, module)
                    break
        return self._modules[dotted]

    def member(self, module: Module, name: str) -> Value:
        if name in module.names:
            return module.names[name]
        return self._module_or_external(f"{module.dotted}.{name}")

    def say(self, frame: Frame, node: ast.AST, text: str) -> None:
        if len(self.notes) < _NOTE_LIMIT:
            self.notes.append(f"{frame.module.path}:{getattr(node, 'lineno', 0)}: {text}")

    def holds(self, value: Value) -> bool | None:
        if isinstance(value, External) and value.is_flag:
            name = value.name.rpartition(".")[2]
            self.assumed.add(name)
            return name in _HOLD
        return truth(value)

    def run(self, function: Function, frame: Frame) -> Value:
        try:
            for statement in function.node.body:
                self._execute(statement, frame)
        except _ReturnedError as returned:
            return returned.value
        return None

    def _execute_module(self, body: Sequence[ast.stmt], module: Module) -> None:
        frame = Frame(module, module.names)
        for statement in body:
            try:
                self._execute(statement, frame)
            except (CannotTellError, RecursionError) as error:
                self.say(frame, statement, f"not understood: {error}")
                self._forget(statement, frame)

    def _execute(self, statement: ast.stmt, frame: Frame) -> None:
        match statement:
            case ast.Assign():
                value = self.evaluate(statement.value, frame)
                for target in statement.targets:
                    self.bind(target, value, frame)
            case ast.AnnAssign() if statement.value is not None:
                self.bind(statement.target, self.evaluate(statement.value, frame), frame)
            case ast.AugAssign():
                self._add(statement, frame)
            case ast.Expr():
                self._carry_out(statement.value, frame)
            case ast.Return():
                raise _ReturnedError(None if statement.value is None else self.evaluate(statement.value, frame))
            case ast.Raise():
                raise CannotTellError("it refuses what it is given")
            case ast.Delete():
                self._delete(statement, frame)
            case ast.If() | ast.For() | ast.With() | ast.Try():
                self._execute_block(statement, frame)
            case ast.While() | ast.Match():
                raise CannotTellError("this statement is not followed")
            case _:
                self._define(statement, frame)

    def _define(self, statement: ast.stmt, frame: Frame) -> None:
        match statement:
            case ast.FunctionDef():
                frame.names[statement.name] = Function(statement, frame)
            case ast.ClassDef():
                bases = tuple(self.evaluate(base, frame) for base in statement.bases)
                frame.names[statement.name] = Class(statement, frame, bases)
            case ast.Import():
                for alias in statement.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    frame.names[alias.asname or whole] = self._module_or_external(whole)
            case ast.ImportFrom():
                frame.names.update(self._imported(statement, frame))

    def _execute_block(self, statement: ast.If | ast.For | ast.With | ast.Try, frame: Frame) -> None:
        match statement:
            case ast.If():
                self._if(statement, frame)
            case ast.For():
                self._for(statement, frame)
            case _:
                for child in statement.body:
                    self._execute(child, frame)

    def _if(self, statement: ast.If, frame: Frame) -> None:
        chosen = self.holds(self.evaluate(statement.test, frame))
        if chosen is not None:
            for child in statement.body if chosen else statement.orelse:
                self._execute(child, frame)
        elif _returns(statement):
            raise CannotTellError("it depends on what is not known")
        else:
            if frame.around is None and _makes_entries(statement):
                self.say(frame, statement, f"left out, as it is not known whether {ast.unparse(statement.test)[:80]}")
            self._forget(statement, frame)

    def _for(self, statement: ast.For, frame: Frame) -> None:
        try:
            values = self.gone_through(self.evaluate(statement.iter, frame))
        except CannotTellError:
            if _returns(statement) or self.steps_left < 0:
                raise
            if frame.around is None and not _only_checks(statement.body):
                self.say(frame, statement, f"not gone through: {ast.unparse(statement.iter)[:80]}")
            self._forget(statement, frame)
            return
        if _only_checks(statement.body):
            return
        for value in values:
            self.bind(statement.target, value, frame)
            for child in statement.body:
                self._execute(child, frame)

    def _carry_out(self, node: ast.expr, frame: Frame) -> None:
        """A call for what it does. A constructor that cannot be followed leaves nothing that can be relied upon."""
        if isinstance(node, ast.Call) and _starts_a_parent(node.func):
            start = self.evaluate(node.func, frame)
            keywords = dict(self._keywords(node.keywords, frame))
            self.apply(start, tuple(self._items(node.args, frame)), keywords)
        else:
            self.evaluate(node, frame)

    def _add(self, statement: ast.AugAssign, frame: Frame) -> None:
        value = self.evaluate(ast.BinOp(_loaded(statement.target), statement.op, statement.value), frame)
        before = self.evaluate(_loaded(statement.target), frame)
        if isinstance(before, list) and isinstance(value, list):
            before[:] = value  # as in Python, whoever holds the list sees what is added
        else:
            self.bind(statement.target, value, frame)

    def _delete(self, statement: ast.Delete, frame: Frame) -> None:
        for target in statement.targets:
            if isinstance(target, ast.Subscript):
                subject, key = self.evaluate(target.value, frame), self.evaluate(target.slice, frame)
                if not isinstance(subject, dict) or not isinstance(key, str):
                    raise CannotTellError("what is deleted is not known")
                subject.pop(key, None)

    def _forget(self, statement: ast.stmt, frame: Frame) -> None:
        """What a statement assigns is not known after it."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                self.bind(node, Unread(node, frame), frame)

    def _imported(self, statement: ast.ImportFrom, frame: Frame) -> Iterator[tuple[str, Value]]:
        dotted = _absolute(statement, frame.module)
        module = self.module(dotted)
        for alias in statement.names:
            if alias.name == "*":
                found = module.names if module is not None else {}
                yield from ((name, value) for name, value in found.items() if not name.startswith("_"))
            elif module is not None:
                yield alias.asname or alias.name, self.member(module, alias.name)
            else:
                yield alias.asname or alias.name, self._module_or_external(f"{dotted}.{alias.name}")

    def _module_or_external(self, dotted: str) -> Value:
        module = self.module(dotted)
        return external(dotted) if module is None else module


def _absolute(statement: ast.ImportFrom, module: Module) -> str:
    if not statement.level:
        return statement.module or ""
    package = module.dotted.split(".")
    kept = package[: len(package) - statement.level + module.path.endswith("/__init__.py")]
    return ".".join([*kept, *([statement.module] if statement.module else [])])


def _loaded(target: ast.expr) -> ast.expr:
    """A target of an assignment as an expression."""
    copied = type(target)(**dict(ast.iter_fields(target)))
    copied.ctx = ast.Load()  # type: ignore[attr-defined]  # names, attributes and items have one
    return ast.copy_location(copied, target)


def _starts_a_parent(function: ast.expr) -> bool:
    """Whether it is `super().__init__`, with or without arguments."""
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return False
    return isinstance(function.value, ast.Call) and getattr(function.value.func, "id", "") == "super"


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(node, ast.Return) for node in ast.walk(statement))


def _makes_entries(statement: ast.stmt) -> bool:
    calls = (node.func for node in ast.walk(statement) if isinstance(node, ast.Call))
    return any(isinstance(function, ast.Name) and function.id.endswith("Info") for function in calls)


def _only_checks(body: Sequence[ast.stmt]) -> bool:
    """Whether statements do nothing but refuse what they are given."""
    return all(
        isinstance(child, ast.Raise | ast.Assert | ast.Pass)
        or (isinstance(child, ast.If) and _only_checks(child.body) and _only_checks(child.orelse))
        for child in body
    )
