"""A test library in small, written as upstream writes its own: classes of entries, functions for dtypes, a database."""

from __future__ import annotations

from collections.abc import Mapping

from tests.selector.upstream import MemoryTree

FOLDER = "torch/testing/_internal"
DATABASE = f"{FOLDER}/common_methods_invocations.py"

_DTYPES = """\
import torch

class _dispatch_dtypes(tuple):
    def __add__(self, other):
        return _dispatch_dtypes(tuple.__add__(self, other))

_floating_types = _dispatch_dtypes((torch.float32, torch.float64))

def _validate_dtypes(*dtypes):
    for dtype in dtypes:
        if not isinstance(dtype, torch.dtype):
            raise AssertionError(dtype)
    return dtypes

def floating_types():
    return _floating_types

def floating_types_and(*dtypes):
    return _floating_types + _validate_dtypes(*dtypes)
"""

_CORE = """\
import unittest
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
import torch
from torch.testing._internal.common_dtype import _dispatch_dtypes, floating_types
from torch.testing._internal.common_utils import IS_FBCODE

_NOTHING = object()

class DecorateInfo:
    def __init__(self, decorators, cls_name=None, test_name=None, *, device_type=None, dtypes=None, active_if=True):
        self.decorators = list(decorators) if isinstance(decorators, Iterable) else [decorators]

def sample_inputs_unary(op_info, device, dtype, requires_grad, **kwargs):
    yield SampleInput(make(SIZE, device=device))

SIZE = 5

@dataclass
class OpInfo:
    name: str
    ref: Callable = None
    variant_test_name: str = ""
    method_variant: Callable = _NOTHING
    skips: tuple = ()
    decorators: tuple = ()
    sample_inputs_func: Callable = None
    dtypes: _dispatch_dtypes = None
    dtypesIf: dict = field(default_factory=dict)
    dtypesIfCUDA: _dispatch_dtypes = None
    backward_dtypes: _dispatch_dtypes = None
    supports_autograd: bool = True

    def __post_init__(self):
        self._original_opinfo_args = asdict(self).copy()
        if self.dtypes is None:
            raise AssertionError(f"OpInfo for {self.name} has no dtypes!")
        self.dtypes = set(self.dtypes)
        self.backward_dtypes = set(self.backward_dtypes) if self.backward_dtypes is not None else self.dtypes
        if self.method_variant is _NOTHING:
            self.method_variant = getattr(torch.Tensor, self.name, None)
        self.decorators = (*self.decorators, *self.skips)
        self.sample_inputs_func = torch.no_grad()(self.sample_inputs_func)

class UnaryUfuncInfo(OpInfo):
    def __init__(self, name, *, dtypes=floating_types(), sample_inputs_func=sample_inputs_unary, **kwargs):
        self._original_unary_args = locals().copy()
        common_skips = (DecorateInfo(unittest.skip("redundant"), "TestCommon", "test_numpy_refs"),)
        kwargs["skips"] = kwargs.get("skips", ()) + common_skips
        super().__init__(name, dtypes=dtypes, sample_inputs_func=sample_inputs_func, **kwargs)

class PythonRefInfo(OpInfo):
    def __init__(self, name, *, torch_opinfo_name, **kwargs):
        from torch.testing._internal.common_methods_invocations import op_db
        for opinfo in op_db:
            if opinfo.name == torch_opinfo_name and opinfo.variant_test_name == "":
                self.torch_opinfo = opinfo
        inherited = self.torch_opinfo._original_opinfo_args.copy()
        if "skips" in inherited:
            del inherited["skips"]
        inherited.update(kwargs)
        inherited["name"] = name
        super().__init__(**inherited)
"""

_HEAD = """\
import os
import unittest
from functools import partial
import torch
from torch.testing._internal.common_dtype import floating_types, floating_types_and
from torch.testing._internal.common_device_type import onlyCUDA, skipCUDAIfNoCusolver, toleranceOverride
from torch.testing._internal.common_utils import IS_WINDOWS, TEST_WITH_ROCM
from torch.testing._internal.opinfo.core import DecorateInfo, OpInfo, PythonRefInfo, UnaryUfuncInfo

def sizes(wide):
    return (3, 4) if wide else (3,)

def sample_inputs_addmm(op_info, device, dtype, requires_grad, **kwargs):
    for size in sizes(True):
        yield SampleInput(size)

"""


def library(database: str, other: Mapping[str, str] | None = None, replaced: tuple[str, str] = ("", "")) -> MemoryTree:
    """A tree with a database; `other` files stand beside those of the library. `replaced`: a text of any file, and what
    stands there instead."""
    files = {
        f"{FOLDER}/common_dtype.py": _DTYPES,
        f"{FOLDER}/opinfo/__init__.py": "",
        f"{FOLDER}/opinfo/core.py": _CORE,
        DATABASE: _HEAD + database,
        **(other or {}),
    }
    return MemoryTree({path: text.replace(*replaced) if replaced[0] else text for path, text in files.items()})
