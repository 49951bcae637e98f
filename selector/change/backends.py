"""Which source belongs to another backend than an out-of-tree device: by dispatch key, by macro, by path.

Only other hardware counts. CPU, Meta and composite kernels run below an out-of-tree device or beside it in the same
tests, and so do the layouts of the CPU (SparseCPU, MkldnnCPU, QuantizedCPU); an unknown key is nobody's in particular
and stays relevant. Dispatch keys: https://github.com/pytorch/pytorch/blob/main/c10/core/DispatchKey.h
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Hardware with kernels of its own in the tree. `PrivateUse1` is where out-of-tree devices live and is not among them.
OTHER = ("CUDA", "HIP", "MPS", "XPU", "HPU", "MTIA", "XLA", "IPU", "VE", "Vulkan", "Metal", "MAIA", "Lazy", "FPGA")

_KEY = re.compile(
    rf"(?:Sparse|SparseCsr|Quantized|NestedTensor|Autograd|Autocast|AutogradNestedTensor)?(?P<backend>{'|'.join(OTHER)})"
)
_MACROS = {
    "CUDA": ("USE_CUDA", "__CUDACC__", "__CUDA_ARCH__", "USE_CUDNN", "USE_NCCL", "USE_CUSPARSELT", "USE_MAGMA"),
    "HIP": ("USE_ROCM", "__HIPCC__", "__HIP_PLATFORM_AMD__", "USE_MIOPEN"),
    "MPS": ("USE_MPS", "USE_PYTORCH_METAL"),
    "XPU": ("USE_XPU", "SYCL_LANGUAGE_VERSION"),
    "Vulkan": ("USE_VULKAN", "USE_VULKAN_API"),
}
_BACKEND_OF_MACRO = {macro: backend for backend, macros in _MACROS.items() for macro in macros}
_FOLDERS = {
    "cuda": "CUDA", "cudnn": "CUDA", "nccl": "CUDA", "cutlass": "CUDA", "cusparselt": "CUDA",
    "hip": "HIP", "miopen": "HIP", "rocm": "HIP", "mps": "MPS", "metal": "MPS", "xpu": "XPU", "mtia": "MTIA",
    "vulkan": "Vulkan", "hpu": "HPU", "xla": "XLA",
}  # fmt: skip
_SUFFIXES = {".cu": "CUDA", ".cuh": "CUDA", ".hip": "HIP", ".metal": "MPS", ".mm": "MPS", ".glsl": "Vulkan"}
_NATIVE_ROOTS = ("aten/", "c10/", "torch/csrc/", "caffe2/")


def backend_of_key(key: str) -> str:
    """The other backend that a dispatch key belongs to, empty when it belongs to none."""
    match = _KEY.fullmatch(key)
    return match["backend"] if match else ""


def backend_of_macro(macro: str) -> str:
    """The other backend for which the build defines `macro`."""
    return _BACKEND_OF_MACRO.get(macro, "")


def backend_of_path(path: str) -> str:
    """The other backend that a native file of the tree is compiled for, by its suffix or a folder on its way."""
    if not path.startswith(_NATIVE_ROOTS):
        return ""
    for suffix, backend in _SUFFIXES.items():
        if path.endswith(suffix):
            return backend
    return next((_FOLDERS[part] for part in path.split("/")[:-1] if part in _FOLDERS), "")


def only_other(keys: Iterable[str]) -> bool:
    """Whether there are keys and all of them belong to other backends."""
    every = list(keys)
    return bool(every) and all(map(backend_of_key, every))
