"""Which keys, macros and paths belong to another backend; what is unknown belongs to none."""

from __future__ import annotations

import pytest

from selector.change.backends import backend_of_key, backend_of_macro, backend_of_path


@pytest.mark.parametrize(
    ("key", "backend"),
    [
        ("CUDA", "CUDA"),
        ("SparseCsrCUDA", "CUDA"),
        ("QuantizedXPU", "XPU"),
        ("NestedTensorHPU", "HPU"),
        ("AutogradMPS", "MPS"),
        ("CPU", ""),
        ("SparseCPU", ""),
        ("MkldnnCPU", ""),
        ("Meta", ""),
        ("PrivateUse1", ""),
        ("AutogradPrivateUse1", ""),
        ("CompositeImplicitAutograd", ""),
        ("CompositeExplicitAutogradNonFunctional", ""),
        ("CUDAish", ""),
        ("", ""),
    ],
)
def test_a_dispatch_key(key: str, backend: str) -> None:
    assert backend_of_key(key) == backend


@pytest.mark.parametrize(
    ("path", "backend"),
    [
        ("aten/src/ATen/native/cuda/Sort.cpp", "CUDA"),
        ("aten/src/ATen/native/Sort.cu", "CUDA"),
        ("aten/src/ATen/native/mps/operations/Pad.mm", "MPS"),
        ("torch/csrc/xpu/Module.cpp", "XPU"),
        ("c10/cuda/CUDAStream.h", "CUDA"),
        ("aten/src/ATen/native/cpu/SortKernel.cpp", ""),
        ("aten/src/ATen/native/cuda.cpp", ""),
        ("torch/cuda/random.py", ""),
        ("test/cpp/cuda/a.cpp", ""),
        ("third_party/cuda/a.cpp", ""),
    ],
)
def test_a_path(path: str, backend: str) -> None:
    assert backend_of_path(path) == backend


def test_a_macro() -> None:
    assert backend_of_macro("USE_ROCM") == "HIP"
    assert backend_of_macro("USE_MKLDNN") == ""
