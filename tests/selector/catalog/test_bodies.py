"""What runs as part of a test file is its text, wherever it stands."""

from __future__ import annotations

import pytest

from selector.catalog import Catalog, build_catalog
from selector.catalog.bodies import is_body
from tests.selector.upstream import MemoryTree

BODIES = "torch/testing/_internal/distributed/dist_test.py"
BODY = """
class Backend(MultiProcessTestCase):
    def setUp(self): start_backend()

class Outer:
    class _Base:
        def test_reduce(self): all_reduce()
        def check(self): pass
"""
WRAPPER = """
from torch.testing._internal.distributed.dist_test import Backend, Outer
class TestSpawned(Backend, Outer._Base):
    pass
"""


def catalog_of(text: str, **others: str) -> Catalog:
    named = {f"test/{name}.py": source for name, source in others.items()}
    return build_catalog(MemoryTree({"test/dist/test_wrapper.py": text, BODIES: BODY, **named}))


def borrowed(catalog: Catalog) -> set[tuple[str, str]]:
    return {(part.file, part.symbol) for part in catalog.files["test/dist/test_wrapper.py"].borrowed}


def test_a_wrapper_has_the_tests_that_it_inherits_from_outside_the_test_tree() -> None:
    catalog = catalog_of(WRAPPER)
    assert list(catalog.files) == ["test/dist/test_wrapper.py"]
    (test,) = catalog
    assert str(test.test) == "test/dist/test_wrapper.py::TestSpawned::test_reduce"
    assert (test.origin.file, test.origin.symbol) == (BODIES, "Outer._Base.test_reduce")
    assert "all_reduce" in test.words
    assert [helper.symbol for helper in test.helpers] == ["Backend.setUp"]
    assert borrowed(catalog) == set()


@pytest.mark.parametrize(
    "base", ["_Base", "Unknown._Base", "dist_test.Nobody", "Outer.Nobody", "Outer._Base._Base", "(lambda: 1)._Base"]
)
def test_a_base_that_is_not_found_is_none(base: str) -> None:
    catalog = catalog_of(
        f"from torch.testing._internal.distributed.dist_test import Outer\nclass TestX({base}): pass\n"
    )
    assert [test.test.cls for test in catalog] == [""]


def test_a_base_is_found_in_a_module_too() -> None:
    base = "class TestBase(TestCase):\n    def test_one(self): pass\n"
    catalog = catalog_of("import test_base\nclass TestMore(test_base.TestBase): pass\n", test_base=base)
    assert "test/dist/test_wrapper.py::TestMore::test_one" in {str(test.test) for test in catalog}


def test_a_file_that_makes_its_tests_borrows_the_bodies_it_imports_even_through_a_list_of_them() -> None:
    lists = "from torch.testing._internal.distributed.dist_test import Outer\nALL = [Outer]\n"
    text = "from torch.testing._internal.distributed.lists import ALL\nglobals().update(make(ALL))\n"
    files = {"test/dist/test_wrapper.py": text, BODIES: BODY, "torch/testing/_internal/distributed/lists.py": lists}
    catalog = build_catalog(MemoryTree(files))
    assert (BODIES, "Outer._Base.test_reduce") in borrowed(catalog)
    assert any("all_reduce" in words for words in catalog.files["test/dist/test_wrapper.py"].texts())


def test_a_started_script_is_borrowed_and_a_test_file_is_not() -> None:
    text = "import subprocess\nsubprocess.run(['script.py', 'test_other.py'])\n"
    catalog = catalog_of(text, script="work()\n", test_other="def test_other(): pass\n")
    assert borrowed(catalog) == {("test/script.py", "")}


def test_all_tests_of_a_starred_module_are_collected_here_too() -> None:
    base = "class TestBase(TestCase):\n    def test_one(self): pass\n"
    catalog = catalog_of("from test_base import *\n", test_base=base)
    assert "test/dist/test_wrapper.py::TestBase::test_one" in {str(test.test) for test in catalog}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (BODIES, True),
        ("torch/testing/_internal/common_utils.py", False),
        ("torch/testing/_internal/opinfo/definitions/linalg.py", False),
        ("torch/distributed/rpc/api.py", False),
    ],
)
def test_bodies_stand_in_packages_below_the_harness(path: str, expected: bool) -> None:
    assert is_body(path) is expected
