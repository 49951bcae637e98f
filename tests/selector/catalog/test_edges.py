"""A test file that needs another one says so, and the catalog knows."""

from __future__ import annotations

import pytest

from selector.catalog import Catalog, EdgeKind, FileEdge, build_catalog
from tests.selector.upstream import MemoryTree

BASE = "class TestBase(TestCase):\n    def test_x(self): pass\ndef check(): pass\n"


def edges_of(path: str, files: dict[str, str]) -> set[tuple[str, str]]:
    return {(edge.kind.value, edge.path) for edge in build_catalog(MemoryTree(files)).files[path].edges}


def catalog_with(text: str, **others: str) -> Catalog:
    files = {f"test/{name}.py": source for name, source in others.items()}
    return build_catalog(MemoryTree({"test/test_a.py": text, "test/test_base.py": BASE, **files}))


@pytest.mark.parametrize(
    ("text", "kind", "evidence"),
    [
        ("from test_base import TestBase\n", EdgeKind.RERUN, "TestBase is collected here too"),
        ("from test_base import *\n", EdgeKind.RERUN, "TestBase is collected here too"),
        ("from test_base import check\n", EdgeKind.IMPORT, "import test_base"),
        ("import test_base as base\n", EdgeKind.IMPORT, "import test_base"),
        ("import subprocess\nsubprocess.run([exe, 'test_base.py'])\n", EdgeKind.SPAWN, "test_base.py"),
    ],
)
def test_what_a_file_takes_from_another_is_an_edge(text: str, kind: EdgeKind, evidence: str) -> None:
    assert catalog_with(text).files["test/test_a.py"].edges == (FileEdge(kind, "test/test_base.py", evidence),)


def test_a_subclass_leans_on_the_file_of_its_base() -> None:
    text = "from test_base import TestBase as B\nclass TestMore(B):\n    pass\n"
    edges = catalog_with(text).files["test/test_a.py"].edges
    assert FileEdge(EdgeKind.SUBCLASS, "test/test_base.py", "TestMore inherits from TestBase") in edges


def test_a_class_without_tests_is_no_rerun() -> None:
    catalog = catalog_with(
        "from helpers.test_models import Net\n", **{"helpers/test_models": "class Net(Module): pass\n"}
    )
    assert [edge.kind for edge in catalog.files["test/test_a.py"].edges] == [EdgeKind.IMPORT]


def test_scripts_that_are_no_tests_are_found_beside_the_file_and_under_test() -> None:
    files = {
        "test/dist/test_a.py": "import subprocess\nrun('bin/echo.py'); run('top.py'); run('none.py')\n",
        "test/dist/bin/echo.py": "",
        "test/top.py": "",
    }
    assert edges_of("test/dist/test_a.py", files) == {("spawn", "test/dist/bin/echo.py"), ("spawn", "test/top.py")}


def test_a_file_that_starts_no_process_spawns_nothing() -> None:
    assert edges_of("test/test_a.py", {"test/test_a.py": "name = 'test_b.py'\n", "test/test_b.py": ""}) == set()


def test_the_tree_around_the_tests_is_not_reached() -> None:
    files = {"test/test_a.py": "from torch.nn import functional\n", "torch/nn.py": "", "torch/nn/functional.py": ""}
    assert edges_of("test/test_a.py", files) == set()


def test_dependents_are_the_edges_seen_from_the_other_end() -> None:
    catalog = catalog_with("from test_base import check\n", test_c="from test_base import *\n")
    found = catalog.dependents["test/test_base.py"]
    assert [(file.path, edge.kind.value) for file, edge in found] == [
        ("test/test_a.py", "import"),
        ("test/test_c.py", "rerun"),
    ]
    assert "test/test_a.py" not in catalog.dependents
