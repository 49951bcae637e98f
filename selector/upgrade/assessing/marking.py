"""How the decorators of a test differ between two trees, and which of the differences a device can not see.

A device that is none of upstream's own does not see what a decorator does for one of those (`skipCUDAIf`,
`expectedFailureMPS`): 2.13 to 2.14 changes mostly such.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from selector.catalog import CatalogTest

_HARDWARE = r"(?:CPU|CUDA|Cuda|Rocm|ROCm|ROCM|MPS|Mps|XPU|Xpu|HPU|Hpu|XLA|Xla|MTIA|Meta|Hip|HIP)"
_OVERRIDES = "skip|skipIf|expectedFailure|dtypesIf|precisionOverrideIf|toleranceOverrideIf|largeTensorTestIf"
#: Decorators that act on tests of one of upstream's devices, on a machine or a library of one, on another system, or
#: when all tests are run in another way, through Dynamo for one. None of them acts on a device out of the tree.
_ELSEWHERE = re.compile(
    rf"(?:{_OVERRIDES}){_HARDWARE}\w*|skip{_HARDWARE}If\w*|skipIfNo(?:Cudnn|Cusolver|Magma)\w*|[tb]f32_on_and_off"
    r"|gcIfJetson|skipIf(?:Windows|MacOS|S390X)\w*|(?:skip|xfail)If(?:TorchDynamo|TorchInductor|CrossRef)"
)
#: Decorators that keep a test to devices of upstream's own.
_KEPT_TO_OTHERS = frozenset({f"only{name}" for name in ("CPU", "CUDA", "MPS", "XPU", "HPU", "XLA", "MTIA", "Meta")})
_PARAMETRIZING = frozenset({"parametrize", "modules", "optims", "parametrize_test", "tf32_on_and_off"})
_OUTSIDE = "PRIVATEUSE1"

_INTEGRAL = ("uint8", "int8", "int16", "int32", "int64")
_FLOATING = ("float32", "float64")
_COMPLEX = ("complex64", "complex128")
#: `torch/testing/_internal/common_dtype.py` of PyTorch 2.6.
_GROUPS = {
    "integral_types": _INTEGRAL,
    "floating_types": _FLOATING,
    "complex_types": _COMPLEX,
    "all_types": (*_FLOATING, *_INTEGRAL),
    "floating_and_complex_types": (*_FLOATING, *_COMPLEX),
    "all_types_and_complex": (*_FLOATING, *_INTEGRAL, *_COMPLEX),
    "all_types_and_half": (*_FLOATING, *_INTEGRAL, "float16"),
    "double_types": ("float64", "complex128"),
}
_SPELLINGS = {
    **{name: name for name in (*_INTEGRAL, *_FLOATING, *_COMPLEX, "bool", "float16", "bfloat16", "complex32")},
    **{name: name for name in ("uint16", "uint32", "uint64")},
    **dict(zip(("half", "float", "double"), ("float16", *_FLOATING), strict=True)),
    **dict(zip(("short", "int", "long"), _INTEGRAL[2:], strict=True)),
    **dict(zip(("chalf", "cfloat", "cdouble"), ("complex32", *_COMPLEX), strict=True)),
}


@dataclass(frozen=True, slots=True)
class Marking:
    """Decorators that only one of the trees has, as people read them (`+skipIfTorchDynamo`), in order of their names;
    `seen` are those that a device out of the tree can see."""

    all: tuple[str, ...]
    seen: tuple[str, ...]


def compare_marks(before: CatalogTest, after: CatalogTest) -> Marking:
    """The difference of two tests' decorators. What differs in an argument that is neither a name nor a string has no
    mark, so the answer may be empty for decorators that differ."""
    gone, come = Counter(before.marks) - Counter(after.marks), Counter(after.marks) - Counter(before.marks)
    changed = {mark.name for mark in gone} & {mark.name for mark in come}
    signs = [(f"{name}(other arguments)", name) for name in changed]
    signs += [(f"-{mark.name}", mark.name) for mark in gone if mark.name not in changed]
    signs += [(f"+{mark.name}", mark.name) for mark in come if mark.name not in changed]
    ordered = sorted(set(signs), key=lambda sign: (sign[1], sign[0]))
    return Marking(
        tuple(sign for sign, _ in ordered), tuple(sign for sign, name in ordered if not _ELSEWHERE.fullmatch(name))
    )


def runs_elsewhere_only(test: CatalogTest) -> bool:
    """Whether a decorator keeps the test to upstream's own devices, so that none of its variants is the device's."""
    return any(mark.name in _KEPT_TO_OTHERS for mark in test.marks)


def is_parametrized(test: CatalogTest) -> bool:
    """Whether values that have no mark make more variants of the test."""
    return any(mark.name in _PARAMETRIZING for mark in test.marks)


def spelt_dtypes(test: CatalogTest) -> tuple[str, ...]:
    """The dtypes that a test is generated for on a device out of the tree, as far as its decorators spell them out;
    none where they do not, or where some of them come from a function of which no dtypes are known."""
    own = [mark for mark in test.marks if mark.name == f"dtypesIf{_OUTSIDE}"]
    marks = own or [mark for mark in test.marks if mark.name in {"dtypes", "ops", "modules"}]
    if any(_is_untold_group(name) for mark in marks for name in mark.names):
        return ()
    return tuple(dict.fromkeys(dtype for mark in marks for name in mark.names for dtype in _dtypes_of(name)))


def _is_untold_group(name: str) -> bool:
    """Whether a name is that of a function that gives dtypes nobody knows here."""
    group = name.removesuffix("_and")
    return group not in _GROUPS and group.endswith(("_types", "_dtypes"))


def _dtypes_of(name: str) -> tuple[str, ...]:
    """A dtype by one of its names, or all of a group of `common_dtype.py`."""
    group = name.removesuffix("_and")
    if group in _GROUPS:
        return _GROUPS[group]
    return (_SPELLINGS[name],) if name in _SPELLINGS else ()
