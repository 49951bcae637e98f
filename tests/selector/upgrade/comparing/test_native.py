"""Compiled code speaks for the tests that call its operator by name, unless it is of other hardware."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import pytest

from selector.upgrade.comparing.classify import compare_tests
from selector.upgrade.comparing.following import FollowedTree
from selector.upgrade.comparing.native import native_changes, operator_of
from selector.upgrade.types import TestChange
from tests.selector.upstream import MemoryTree

KERNEL = "aten/src/ATen/native/Lerp.cpp"
LISTED = "aten/src/ATen/native/native_functions.yaml"
FILES = {
    "test/test_foo.py": """
import torch
from torch.testing._internal.common_utils import TestCase

class TestFoo(TestCase):
    def test_lerp(self):
        torch.lerp(torch.rand(3), torch.rand(3), 0.5)

    def test_flip(self):
        torch.rand(3).flip(0)
""",
    KERNEL: "namespace at::native {\nTensor lerp(const Tensor& self) {\n  return self + 1;\n}\n}\n",
    LISTED: """- func: lerp(Tensor self) -> Tensor
  dispatch:
    CPU: lerp

- func: rand(SymInt[] size) -> Tensor
  dispatch:
    CPU: rand
""",
}


def told(path: str, old: str, new: str) -> dict[str, TestChange]:
    after = {**FILES, path: FILES[path].replace(old, new)}
    assert after != FILES
    return {one.test.name: one.change for one in compare_tests(MemoryTree(FILES), MemoryTree(after)).tests}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [(KERNEL, "self + 1", "self + 2"), (LISTED, "lerp(Tensor self)", "lerp(Tensor self, Scalar weight)")],
)
def test_a_kernel_and_a_schema_speak_for_the_test_that_calls_the_operator(path: str, old: str, new: str) -> None:
    assert told(path, old, new) == {"test_lerp": TestChange.CODE, "test_flip": TestChange.UNCHANGED}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [(LISTED, "CPU: lerp", "CPU: lerp\n    CUDA: lerp_cuda"), (LISTED, "rand(SymInt[] size)", "rand(SymInt size)")],
)
def test_other_hardware_and_makers_of_tensors_speak_for_no_test(path: str, old: str, new: str) -> None:
    assert set(told(path, old, new).values()) == {TestChange.UNCHANGED}


@pytest.mark.parametrize(
    ("dotted", "operator"),
    [
        ("torch.lerp", "lerp"),
        ("torch.linalg.qr", "linalg_qr"),
        ("torch.nn.functional.gelu", "gelu"),
        ("torch.Tensor.add_", ""),
        ("numpy.add", ""),
    ],
)
def test_an_operator_is_called_by_the_name_its_namespace_gives_it(dotted: str, operator: str) -> None:
    assert operator_of(dotted) == operator


class OneRecord:
    """A cache that gives the same bytes for any key."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def load(self, parser: str, wanted: Collection[str]) -> Mapping[str, bytes]:
        return dict.fromkeys(wanted, self._content)

    def keep(self, parser: str, used: Iterable[str], fresh: Mapping[str, bytes]) -> None:
        (self._content,) = fresh.values()


def test_what_a_pair_of_trees_showed_is_kept_and_damage_is_read_anew() -> None:
    after = {**FILES, KERNEL: FILES[KERNEL].replace("self + 1", "self + 2")}
    base, head = FollowedTree(MemoryTree(FILES)), FollowedTree(MemoryTree(after))
    cache = OneRecord(b"damage")
    fresh = list(native_changes(base, head, cache).of(["torch.lerp"]))
    assert fresh
    assert list(native_changes(base, base, cache).of(["torch.lerp"])) == fresh, "the record was not used"
