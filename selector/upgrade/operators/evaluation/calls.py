"""Calls: of functions of the tree, of its classes, of methods of plain values and of a few built-in functions."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from selector.upgrade.operators.evaluation.plain import PlainCalls, call_method, has_method
from selector.upgrade.operators.evaluation.values import (
    Applied,
    Bound,
    CannotTellError,
    Class,
    External,
    Frame,
    Function,
    Instance,
    Module,
    Super,
    Value,
    external,
)

#: Functions in functions; upstream's own go a handful deep.
_DEPTH = 30
#: Classes that make entries: what they do when one is made is followed. Of others the arguments are enough.
_ENTRY = "OpInfo"


class Calls(PlainCalls):
    """Carries out calls, or says what was called with what."""

    def __init__(self, steps: int) -> None:
        super().__init__(steps)
        self._depth = 0
        self._generators: dict[ast.FunctionDef, bool] = {}
        self._declared: dict[ast.ClassDef, dict[str, ast.AnnAssign]] = {}

    @abstractmethod
    def run(self, function: Function, frame: Frame) -> Value:
        """What the statements of a function return, its arguments being bound. Raises `CannotTellError`."""

    @abstractmethod
    def member(self, module: Module, name: str) -> Value:
        """A name of a module, or a module inside it. Raises `CannotTellError`."""

    def call(self, node: ast.Call, frame: Frame) -> Value:
        function = self.evaluate(node.func, frame)
        arguments = tuple(self._items(node.args, frame))
        keywords = dict(self._keywords(node.keywords, frame))
        if isinstance(function, External) and function.name.startswith("builtins."):
            return self.built_in(function.name.partition(".")[2], arguments, keywords, frame)
        try:
            return self.apply(function, arguments, keywords)
        except CannotTellError:
            if self.steps_left < 0 or isinstance(function, Super):
                raise
            return Applied(function, arguments, keywords)

    def apply(  # noqa: PLR0911 (one for each kind of value)
        self, function: Value, arguments: tuple[Value, ...], keywords: dict[str, Value]
    ) -> Value:
        """Carry out a call. Raises `CannotTellError`."""
        match function:
            case Function():
                return self._called(function, arguments, keywords)
            case Class():
                return self._made(function, arguments, keywords)
            case Bound(subject, Function() as method):
                return self._called(method, (subject, *arguments), keywords)
            case Bound(subject, str() as method):
                return self._method(subject, method, arguments, keywords)
            case External("dataclasses.asdict") if len(arguments) == 1 and isinstance(arguments[0], Instance):
                declared = self._fields(arguments[0].cls)
                return {name: value for name, value in arguments[0].fields.items() if name in declared}
            case External("os.environ.get" | "os.getenv"):
                return arguments[1] if len(arguments) > 1 else None
            case External("torch.distributed.is_available"):
                return True
            case External("torch.cuda.is_available"):
                return False
            case _:
                raise CannotTellError("what is called is not known")

    def attribute(self, subject: Value, name: str) -> Value:
        match subject:
            case External():
                return external(f"{subject.name}.{name}")
            case Module():
                return self.member(subject, name)
            case Instance():
                return (
                    subject.fields[name]
                    if name in subject.fields
                    else self._inherited(subject.cls.line(), name, subject)
                )
            case Super():
                line = subject.instance.cls.line()
                return self._inherited(line[line.index(subject.owner) + 1 :], name, subject.instance)
            case str() | dict() | list() if has_method(subject, name):
                return Bound(subject, name)
            case _:
                raise CannotTellError(f"{name} of it is not known")

    def _inherited(self, line: Sequence[Class], name: str, instance: Instance) -> Value:
        for cls in line:
            for node in cls.node.body:
                if isinstance(node, ast.FunctionDef) and node.name == name and not node.decorator_list:
                    return Bound(instance, Function(node, cls.frame, cls))
            if name == "__init__" and is_dataclass(cls):
                return Bound(instance, "__init__")
        raise CannotTellError(f"{name} of it is not known")

    def _keywords(self, keywords: Sequence[ast.keyword], frame: Frame) -> Iterator[tuple[str, Value]]:
        for keyword in keywords:
            value = self.evaluate(keyword.value, frame)
            if keyword.arg is not None:
                yield keyword.arg, value
            elif isinstance(value, dict) and all(isinstance(name, str) for name in value):
                yield from value.items()
            else:
                raise CannotTellError("not all arguments are known")

    def _called(self, function: Function, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> Value:
        if self._depth > _DEPTH or function.node.decorator_list or self._is_generator(function.node):
            raise CannotTellError("this function is not followed")
        names = self.bound(function.node.args, arguments, keywords, function.frame)
        self._depth += 1
        try:
            return self.run(function, Frame(function.frame.module, names, function.frame, function.owner))
        finally:
            self._depth -= 1

    def bound(
        self, wanted: ast.arguments, arguments: Sequence[Value], keywords: Mapping[str, Value], frame: Frame
    ) -> dict[str, Value]:
        """The names of a function's frame. Raises `CannotTellError` when the arguments do not fit."""
        places = [argument.arg for argument in (*wanted.posonlyargs, *wanted.args)]
        names: dict[str, Value] = dict(zip(places, arguments, strict=False))
        if wanted.vararg is not None:
            names[wanted.vararg.arg] = tuple(arguments[len(places) :])
        elif len(arguments) > len(places):
            raise CannotTellError("there are too many arguments")
        known = {*places, *(argument.arg for argument in wanted.kwonlyargs)}
        names |= {name: value for name, value in keywords.items() if name in known}
        for name, default in _defaults(wanted):
            if name not in names:
                names[name] = self.evaluate(default, frame)
        if wanted.kwarg is not None:
            names[wanted.kwarg.arg] = {name: value for name, value in keywords.items() if name not in known}
        if not known <= names.keys():
            raise CannotTellError("an argument is missing")
        return names

    def _made(self, cls: Class, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        """An object of a class."""
        if cls.is_a("tuple"):
            return tuple(self.gone_through(arguments[0])) if arguments else ()
        instance = Instance(cls, {})
        start = self.attribute(instance, "__init__")
        if cls.is_a(_ENTRY) or not isinstance(start, Bound) or not isinstance(start.function, Function):
            self.apply(start, arguments, keywords)
        else:
            method = start.function
            names = self.bound(method.node.args, (instance, *arguments), keywords, method.frame)
            instance.fields = {name: value for name, value in names.items() if value is not instance}
        return instance

    def _method(self, subject: Value, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        if isinstance(subject, Instance):
            return self._fill(subject, arguments, keywords)
        return call_method(subject, name, arguments, keywords)

    def _fill(self, instance: Instance, arguments: Sequence[Value], keywords: Mapping[str, Value]) -> None:
        """What the constructor of a dataclass does."""
        names = list(self._fields(instance.cls))
        given = dict(zip(names, arguments, strict=False)) | dict(keywords)
        if not given.keys() <= set(names) or len(arguments) > len(names):
            raise CannotTellError("an argument is none of the fields")
        for cls in reversed(instance.cls.line()):
            instance.fields.update(self._field_values(cls, given))
        after = self.attribute(instance, "__post_init__")
        self.apply(after, (), {})

    def _is_generator(self, node: ast.FunctionDef) -> bool:
        if node not in self._generators:
            self._generators[node] = _yields(node)
        return self._generators[node]

    def _fields(self, cls: Class) -> dict[str, ast.AnnAssign]:
        """The fields of a dataclass, those that it inherits first."""
        found: dict[str, ast.AnnAssign] = {}
        for parent in reversed(cls.line()):
            found.update(self._own_fields(parent.node))
        return found

    def _own_fields(self, cls: ast.ClassDef) -> dict[str, ast.AnnAssign]:
        if cls not in self._declared:
            nodes = [node for node in cls.body if isinstance(node, ast.AnnAssign)]
            self._declared[cls] = {node.target.id: node for node in nodes if isinstance(node.target, ast.Name)}
        return self._declared[cls]

    def _field_values(self, cls: Class, given: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
        for name, node in self._own_fields(cls.node).items():
            if name in given:
                yield name, given[name]
            elif isinstance(node.value, ast.Call):
                made = self.evaluate(node.value, cls.frame)
                yield name, {} if _makes_dict(made) else made
            elif node.value is not None:
                if name not in cls.defaults:
                    cls.defaults[name] = self.evaluate(node.value, cls.frame)
                yield name, cls.defaults[name]
            else:
                raise CannotTellError(f"{name} is missing")


def is_dataclass(cls: Class) -> bool:
    """Whether it has the constructor of a dataclass."""
    names = (node.func if isinstance(node, ast.Call) else node for node in cls.node.decorator_list)
    return any(isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).endswith("dataclass") for node in names)


def _makes_dict(value: Value) -> bool:
    """Whether it is `field(default_factory=dict)`."""
    return isinstance(value, Applied) and value.keywords.get("default_factory") == External("builtins.dict")


def _defaults(wanted: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    places = [argument.arg for argument in (*wanted.posonlyargs, *wanted.args)]
    yield from zip(places[len(places) - len(wanted.defaults) :], wanted.defaults, strict=True)
    for argument, default in zip(wanted.kwonlyargs, wanted.kw_defaults, strict=True):
        if default is not None:
            yield argument.arg, default


def _yields(node: ast.FunctionDef) -> bool:
    """Whether it is a generator: functions inside it do not count."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        child = stack.pop()
        if isinstance(child, ast.Yield | ast.YieldFrom):
            return True
        if not isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            stack += ast.iter_child_nodes(child)
    return False
