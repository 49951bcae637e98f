"""A file that only another backend runs cannot matter to an out-of-tree device; everything else stays."""

from __future__ import annotations

import pytest

from selector.change import ChangeSet, analyse
from selector.change.relevance import OTHERS_ONLY, on_out_of_tree_device
from tests.selector.change.case_format import Case, CaseFile
from tests.selector.upstream import MemoryTree

YAML = "aten/src/ATen/native/native_functions.yaml"


def changed(path: str, *lines: str) -> ChangeSet:
    case = Case("", "", [CaseFile(path, path, list(lines))])
    return on_out_of_tree_device(analyse(case.diff(), MemoryTree(case.base()), MemoryTree(case.head())))


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("aten/src/ATen/native/cuda/Foo.cu", ("-int k() { return 1; }", "+int k() { return 2; }")),
        (YAML, (" - func: a(Tensor self) -> Tensor", "   dispatch:", "-    CUDA: x", "+    CUDA: y")),
        ("torch/csrc/A.cpp", (" #ifdef USE_XPU", "-int a();", "+long a();", " #endif")),
        ("torch/testing/_internal/common_methods_invocations.py", ("-db = [OpInfo('a', dtypesIfCUDA=x)]",
                                                                   "+db = [OpInfo('a', dtypesIfCUDA=y)]")),
    ],
)  # fmt: skip
def test_what_only_another_backend_runs_is_left_out(path: str, lines: tuple[str, ...]) -> None:
    change = changed(path, *lines)
    assert change.relevant == ()
    assert change.files[0].noop == OTHERS_ONLY


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        (YAML, (" - func: a(Tensor self) -> Tensor", "   dispatch:", "-    CPU, CUDA: x", "+    CPU, CUDA: y")),
        (YAML, (" - func: a(Tensor self) -> Tensor", "   dispatch:", "+    PrivateUse1: y")),
        ("torch/csrc/A.cpp", (" #ifdef USE_XPU", "-int a();", "+long a();", " #endif", "+int b();")),
        ("torch/cuda/random.py", ("-x = 1", "+x = 2")),
        ("mystery.cu.xyz", ("-x = 1", "+x = 2")),
    ],
)
def test_everything_else_stays(path: str, lines: tuple[str, ...]) -> None:
    assert len(changed(path, *lines).relevant) == 1
