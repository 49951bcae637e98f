"""The modules of the library are known with what they import, and names lead to the modules they are of."""

from __future__ import annotations

from selector.catalog import build_catalog
from selector.catalog.library import Library, is_library
from tests.selector.upstream import MemoryTree

TREE = {
    "torch/__init__.py": "from torch.export import export\n",
    "torch/export/__init__.py": "def export():\n    from .passes import run\n",
    "torch/export/passes.py": "import torch\nfrom torch.fx.graph import Graph, missing\n",
    "torch/fx/__init__.py": "from . import graph\n",
    "torch/fx/graph.py": "import os\nfrom torch.fx.graph import Graph\n",
    "torch/testing/_internal/common_utils.py": "import torch.fx.graph\n",
    "test/test_a.py": "import torch.fx.graph\ndef test_a(): pass\n",
}
LIBRARY = build_catalog(MemoryTree(TREE)).library


def test_modules_of_the_library_are_those_of_torch_and_functorch_without_harness_and_tests() -> None:
    assert [path for path in TREE if is_library(path)] == list(TREE)[:5]
    assert is_library("functorch/compile/__init__.py")
    assert not is_library("functorch/test/test_ops.py")
    assert not is_library("torch/csrc/jit/docs.py")
    assert not is_library("torch/fx/graph.pyi")


def test_a_name_is_of_the_nearest_module_around_it() -> None:
    assert LIBRARY.module_of("torch.fx.graph.Graph.erase_node") == "torch/fx/graph.py"
    assert LIBRARY.module_of("torch.fx.graph") == "torch/fx/graph.py"
    assert LIBRARY.module_of("torch.fx.symbolic_trace") == "torch/fx/__init__.py"
    assert LIBRARY.module_of("numpy.linalg") is None
    assert LIBRARY.module_of("torch.fx" + 5_000 * ".deep") == "torch/fx/__init__.py"
    assert LIBRARY.module_of("") is None


def test_importers_are_those_that_import_a_module_or_something_of_it_also_inside_functions() -> None:
    assert LIBRARY.importers["torch/fx/graph.py"] == ("torch/export/passes.py", "torch/fx/__init__.py")
    assert LIBRARY.importers["torch/export/passes.py"] == ("torch/export/__init__.py",)
    assert LIBRARY.importers["torch/export/__init__.py"] == ("torch/__init__.py",)


def test_a_module_that_cannot_be_read_or_is_missing_imports_nothing() -> None:
    class Unreadable(MemoryTree):
        def read(self, path: str) -> str | None:
            return None

    assert build_catalog(Unreadable(TREE)).library.importers == {}
    assert Library().module_of("torch") is None
