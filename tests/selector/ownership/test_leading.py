"""Test files are seen from which imports lead to a changed module, the nearer the stronger, with what they name."""

from __future__ import annotations

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, Effect, Fact, FactKind, FileChange, Status
from selector.ownership.leading import leading_to
from tests.selector.upstream import MemoryTree

TREE = {
    "torch/__init__.py": "from torch import fx, nn, export\n",
    "torch/fx/graph.py": "import torch\n",
    "torch/fx/__init__.py": "from .graph import Graph\n",
    "torch/export/__init__.py": "import torch.fx\n",
    "torch/nn/__init__.py": "import torch\n",
    "torch/nn/utils/prune.py": "from torch.nn.utils import prune\n",
    "test/test_graph.py": "from torch.fx.graph import Graph\ndef test_a(): pass\n",
    "test/test_export.py": "import torch\ndef test_a(): torch.export.export()\n",
    "test/test_nn.py": "import torch.nn\ndef test_a(): pass\n",
    "test/test_torch.py": "import torch\ndef test_a(): torch.ones()\n",
}
CATALOG = build_catalog(MemoryTree(TREE))


def change(
    *paths: str, category: Category = Category.PYTHON_SOURCE, facts: tuple[Fact, ...] = (), noop: str | None = None
) -> ChangeSet:
    files = (FileChange(path, None, Status.MODIFIED, category, facts=facts, noop=noop) for path in paths)
    return ChangeSet(tuple(files))


def test_imports_lead_from_what_a_test_names_to_what_changed() -> None:
    found = leading_to(change("torch/fx/graph.py"), CATALOG)
    assert set(found) == {"test/test_graph.py", "test/test_export.py"}
    assert found["test/test_graph.py"] == (1.0, "names torch/fx/graph.py")
    assert 0 < found["test/test_export.py"][0] < 1
    assert (
        found["test/test_export.py"][1]
        == "names torch/export/__init__.py, from where 2 imports lead to torch/fx/graph.py"
    )


def test_of_several_changes_the_one_is_told_that_imports_lead_to() -> None:
    found = leading_to(change("torch/nn/__init__.py", "torch/fx/__init__.py"), CATALOG)
    assert found["test/test_export.py"][1].endswith("from where an import leads to torch/fx/__init__.py")
    assert found["test/test_nn.py"][1] == "names torch/nn/__init__.py"


def test_the_root_package_which_all_code_imports_leads_nowhere() -> None:
    assert "test/test_torch.py" not in leading_to(change("torch/fx/graph.py", "torch/nn/__init__.py"), CATALOG)
    assert leading_to(change("torch/__init__.py"), CATALOG) == {}


def test_a_module_that_nothing_else_imports_leads_to_no_test() -> None:
    assert leading_to(change("torch/nn/utils/prune.py"), CATALOG) == {}


def test_a_name_that_few_test_files_say_counts_more() -> None:
    many = {f"test/test_{number}.py": "import torch.fx\ndef test_a(): pass\n" for number in range(20)}
    found = leading_to(change("torch/fx/__init__.py"), build_catalog(MemoryTree({**TREE, **many})))
    assert found["test/test_1.py"] == found["test/test_2.py"]
    few = leading_to(change("torch/fx/__init__.py"), CATALOG)
    assert found["test/test_export.py"][0] > few["test/test_export.py"][0]


def test_only_behaviour_of_modules_counts() -> None:
    documents = Fact("torch/fx/graph.py", FactKind.DOCSTRING, effect=Effect.DOCUMENTATION)
    assert leading_to(change("torch/fx/graph.py", facts=(documents,)), CATALOG) == {}
    assert leading_to(change("torch/fx/graph.py", noop="comments only"), CATALOG) == {}
    assert leading_to(change("torch/fx/gone.py"), CATALOG) == {}
    assert leading_to(change("test/test_graph.py", category=Category.TEST), CATALOG) == {}
