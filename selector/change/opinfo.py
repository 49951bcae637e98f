"""The databases of `torch/testing/_internal` read as text: OpInfo, ModuleInfo and OptimizerInfo.

Entries are compared by their source, never by importing them: what an import gives depends on which of SciPy's versions
is installed. An entry is a call of a class whose name ends in `Info`, outside every function, that names what it is
about in its first argument.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from selector.change.facts import Effect, Fact, FactKind
from selector.change.python_text import PythonText
from selector.change.symbols import bound_names

#: Syntax in which lists of entries stand.
_AROUND_ENTRIES = (
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Call, ast.BinOp, ast.List, ast.Tuple, ast.Starred,
)  # fmt: skip
_NO_ENTRY = frozenset({"DecorateInfo", "SkipInfo", "ErrorInfo"})
_EXPECTATIONS = frozenset({"skips", "decorators"})
_SAMPLES = ("sample_inputs_", "error_inputs_", "reference_inputs_", "module_inputs_", "module_error_", "optim_inputs_")
_BACKENDS = ("CUDA", "ROCM", "XPU", "Hpu", "MPS")


@dataclass(frozen=True)
class Entry:
    """One entry: `callee` is its class, `name` its first argument, `variant` its `variant_test_name`; `source` is equal
    for equal entries, `arguments` are the others. What is asked of few entries is worked out when it is."""

    kind: FactKind
    callee: str
    name: str
    variant: str
    line: int
    source: tuple[int, int, str]
    arguments: Mapping[str, ast.expr] = field(compare=False, repr=False)

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """Each argument with its digest, and the class."""
        return {"class": self.callee, **{name: ast.dump(value) for name, value in self.arguments.items()}}

    @cached_property
    def names(self) -> Mapping[str, frozenset[str]]:
        """Each argument with the names it uses."""
        return {name: frozenset(_names(value)) for name, value in self.arguments.items()}

    @property
    def label(self) -> str:
        return f"{self.name}:{self.variant}" if self.variant else self.name


def is_database(path: str) -> bool:
    """Whether a path may hold entries."""
    return path.startswith("torch/testing/_internal/") and path.endswith(".py")


def read_entries(text: PythonText) -> tuple[Entry, ...]:
    """The entries of a module in the order of its source."""
    body = text.module.body if text.module is not None else ()
    return tuple(_entry(call, text.lines) for call in _calls_in(body))


def lists_of_entries(module: ast.Module) -> frozenset[str]:
    """Names of the module's lists of entries."""
    lists = (statement for statement in module.body if any(_calls_in([statement])))
    return frozenset(name for statement in lists for name in bound_names(statement))


def compare_entries(path: str, base: Sequence[Entry], head: Sequence[Entry]) -> Iterator[Fact]:
    """One fact per entry and effect, in the order of the new file, those of removed entries last."""
    before, after = _keyed(base), _keyed(head)
    for key, entry in after.items():
        if key not in before:
            yield _fact(path, entry, Effect.SAMPLES, "new entry")
        elif before[key].source != entry.source and before[key].fields != entry.fields:
            yield from _changes(path, before[key], entry)
    for key, entry in before.items():
        if key not in after:
            yield _fact(path, entry, Effect.SAMPLES, "entry removed")


def users_of(names: frozenset[str], entries: Sequence[Entry]) -> Iterator[tuple[Entry, str]]:
    """Entries that use one of `names`, with the arguments that do."""
    for entry in entries:
        fields = [field for field, used in entry.names.items() if used & names]
        if fields:
            yield entry, ", ".join(fields)


def without_entries(statement: ast.stmt) -> ast.stmt:
    """A module-level statement as it is without the entries in its lists. What has none is shared with the original, of
    which a copy would take seconds."""
    emptied = _emptied(statement)
    return emptied if isinstance(emptied, ast.stmt) else statement


def _emptied(node: ast.AST) -> ast.AST:
    if not isinstance(node, _AROUND_ENTRIES):
        return node
    copied = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            kept = (item for item in value if not (isinstance(item, ast.Call) and _is_entry(item)))
            setattr(copied, name, [_emptied(item) for item in kept])
        elif isinstance(value, ast.AST):
            setattr(copied, name, _emptied(value))
    return copied


def _calls_in(statements: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Outermost entry calls outside functions and classes. An explicit stack, because hostile source nests deeply."""
    stack: list[ast.AST] = list(reversed(statements))
    while stack:
        node = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, ast.Call) and _is_entry(node):
            yield node
            continue
        stack.extend(reversed(list(ast.iter_child_nodes(node))))


def _is_entry(call: ast.Call) -> bool:
    callee = _dotted(call.func).rpartition(".")[2]
    return callee.endswith("Info") and callee not in _NO_ENTRY and _subject(call) is not None


def _subject(call: ast.Call) -> ast.expr | None:
    if call.args and not isinstance(call.args[0], ast.Starred):
        return call.args[0]
    return next((keyword.value for keyword in call.keywords if keyword.arg == "name"), None)


def _entry(call: ast.Call, lines: Sequence[str]) -> Entry:
    callee = _dotted(call.func).rpartition(".")[2]
    subject = _subject(call)
    named = {f"argument {place}": value for place, value in enumerate(call.args) if value is not subject}
    named |= {keyword.arg or "**": keyword.value for keyword in call.keywords if keyword.value is not subject}
    variant = named.get("variant_test_name")
    return Entry(
        _kind(callee),
        callee,
        _text(subject) if subject is not None else "",
        _text(variant) if variant is not None else "",
        call.lineno,
        (call.col_offset, call.end_col_offset or 0, "\n".join(lines[call.lineno - 1 : call.end_lineno])),
        named,
    )


def _kind(callee: str) -> FactKind:
    if callee.startswith("Module"):
        return FactKind.MODULE_INFO
    return FactKind.OPTIM_INFO if callee.startswith("Optim") else FactKind.OP_INFO


def _keyed(entries: Sequence[Entry]) -> dict[tuple[str, str, str, int], Entry]:
    """By class, name and variant; entries that agree in all three are told apart by their order."""
    keyed: dict[tuple[str, str, str, int], Entry] = {}
    for entry in entries:
        place = 0
        # a Python reference is an entry of its own beside the operator of the same name, whatever its class is now
        group = "reference" if "PythonRef" in entry.callee else entry.kind.value
        while (group, entry.name, entry.variant, place) in keyed:
            place += 1
        keyed[group, entry.name, entry.variant, place] = entry
    return keyed


def _changes(path: str, before: Entry, after: Entry) -> Iterator[Fact]:
    fields = sorted(
        field
        for field in before.fields.keys() | after.fields.keys()
        if before.fields.get(field) != after.fields.get(field)
    )
    effects: dict[Effect, list[str]] = {}
    for name in fields:
        effects.setdefault(_effect(name), []).append(name)
    for effect, changed in effects.items():
        yield _fact(path, after, effect, f"changed: {', '.join(changed)}")


def _effect(field: str) -> Effect:
    if field in _EXPECTATIONS:
        return Effect.EXPECTATION
    if "dtypes" in field:
        return Effect.OTHER_BACKEND if field.endswith(_BACKENDS) else Effect.DTYPES
    return Effect.SAMPLES if field.startswith(_SAMPLES) else Effect.BEHAVIOUR


def _fact(path: str, entry: Entry, effect: Effect, evidence: str) -> Fact:
    return Fact(path, entry.kind, entry.label, entry.name, effect, entry.line, evidence)


def _text(node: ast.expr) -> str:
    """A string's text; the dotted name of what is no string; for anything else its source."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    return _dotted(node) or ast.unparse(node)[:200]


def _dotted(node: ast.AST) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join(reversed([*parts, node.id])) if isinstance(node, ast.Name) else ""


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr
