"""One entry of a database, worked out by `selector.upgrade.operators.evaluation`, as the entry of a table.

Owns which of what an entry says makes inputs, which concerns upstream's own devices alone, and what is left out because
it is no statement of the entry's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from selector.upgrade.operators.evaluation import Applied, Dtype, External, Instance, Value
from selector.upgrade.operators.evaluation.fingerprint import fingerprint
from selector.upgrade.operators.table import Argument, Decorator, OperatorEntry
from selector.upgrade.types import Place

_SAMPLES = re.compile(
    r"(?:sample|error|reference)_inputs_\w+|sample_kwargs|generate_args_kwargs|[lr]hs_make_tensor_kwargs"
    r"|domain|reference_numerics_filter"
)
#: What is told in other ways, or worked out of the rest when an entry is made.
_ELSEWHERE = frozenset(
    {"name", "variant_test_name", "dtypes", "backward_dtypes", "decorators", "skips", "torch_opinfo", "dtypesIf",
     "dynamic_dtypes"}
)  # fmt: skip
_READABLE = 40
_DIFFERENTIABLE = frozenset({"bfloat16", "complex32", "complex64", "complex128", "float16", "float32", "float64"})
#: Devices with variants of their own in upstream's tests, as decorators call them.
UPSTREAM_DEVICES = ("cpu", "cuda", "hpu", "meta", "mps", "mtia", "rocm", "xla", "xpu")
_ONLY_SKIPPED_ON = re.compile(
    rf"(?:skip|expectedFailure|xfail|toleranceOverrideOn)(?:If)?(?:No)?({'|'.join(UPSTREAM_DEVICES)})\w*", re.IGNORECASE
)


def entry_name(fields: Mapping[str, Value]) -> str:
    """The name by which tests call an entry; empty when the text does not tell."""
    name, variant = fields.get("name"), fields.get("variant_test_name")
    if not isinstance(name, str):
        return ""
    return f"{name}.{variant}" if isinstance(variant, str) and variant else name


def read_entry(name: str, entry: Instance) -> OperatorEntry:
    """An entry under the name that the table has it by."""
    fields = entry.fields
    arguments = {key: _argument(value) for key, value in fields.items() if _is_said(key)}
    return OperatorEntry(
        name=name,
        kind=entry.cls.node.name,
        place=_place(entry),
        dtypes=_dtypes(fields.get("dtypes")),
        backward_dtypes=_backward(fields),
        decorators=tuple(_decorators(fields.get("decorators"))),
        samples={key: value for key, value in arguments.items() if _SAMPLES.fullmatch(key)},
        others={key: value for key, value in arguments.items() if not _SAMPLES.fullmatch(key)},
    )


def _place(entry: Instance) -> Place:
    """Where an entry stands in its list."""
    node = entry.node
    return Place(entry.path) if node is None else Place(entry.path, node.lineno, node.end_lineno or node.lineno)


def _is_said(key: str) -> bool:
    return not key.startswith("_") and key not in _ELSEWHERE


def _argument(value: Value) -> Argument:
    """What is short enough to be read stands for itself."""
    if value is None or (isinstance(value, bool | int | float | str) and len(repr(value)) < _READABLE):
        return Argument(repr(value))
    digest, names = fingerprint([value])
    return Argument(f"@{digest}", names)


def _dtypes(value: Value) -> frozenset[str] | None:
    if not isinstance(value, set | frozenset | tuple | list) or not all(isinstance(item, Dtype) for item in value):
        return None
    return frozenset(item.name for item in value)


def _backward(fields: Mapping[str, Value]) -> frozenset[str] | None:
    """Those that upstream's `OpInfo.supported_backward_dtypes` lets through."""
    found = _dtypes(fields.get("backward_dtypes"))
    if fields.get("supports_autograd") is False:
        return frozenset()
    return None if found is None else found & _DIFFERENTIABLE


def _decorators(value: Value) -> Iterator[Decorator]:
    for item in value if isinstance(value, tuple | list) else ():
        digest, _ = fingerprint([item])
        applied = isinstance(item, Instance)
        fields = item.fields if applied else {"decorators": item}
        yield Decorator(digest, _text(fields), _test(fields), _devices(fields))


def _test(fields: Mapping[str, Value]) -> str:
    parts = (fields.get("cls_name"), fields.get("test_name"))
    return ".".join(part for part in parts if isinstance(part, str))


def _devices(fields: Mapping[str, Value]) -> tuple[str, ...]:
    """The devices that a decorator is for, empty: all. One that only skips where a device lacks something is for it."""
    said = fields.get("device_type")
    if isinstance(said, str):
        return (said,)
    if isinstance(said, tuple | list) and said and all(isinstance(device, str) for device in said):
        return tuple(sorted(said))
    found = [_ONLY_SKIPPED_ON.fullmatch(name) for name in map(_called, _several(fields.get("decorators")))]
    devices = [match.group(1).lower() for match in found if match]
    return tuple(sorted(set(devices))) if devices and len(devices) == len(found) else ()


def _text(fields: Mapping[str, Value]) -> str:
    """A decorator in words: what it does, for which tests, devices and dtypes."""
    said = " and ".join(_called(one) or "a decorator" for one in _several(fields.get("decorators")))
    test, devices, dtypes = _test(fields), _devices(fields), _dtypes(fields.get("dtypes"))
    of = f" of {test}" if test else ""
    on = f" on {', '.join(devices)}" if isinstance(fields.get("device_type"), str | tuple | list) and devices else ""
    by = f" for {', '.join(sorted(dtypes))}" if dtypes else ""
    return f"{said}{of}{on}{by}"


def _several(value: Value) -> Sequence[Value]:
    return value if isinstance(value, tuple | list) else (value,)


def _called(value: Value) -> str:
    """The last part of a decorator's name."""
    if isinstance(value, Applied):
        return _called(value.function)
    return value.name.rpartition(".")[2] if isinstance(value, External) else ""
