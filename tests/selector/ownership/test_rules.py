"""Each rule of stage 2 links the tests it should, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pytest

from selector.catalog import Catalog, build_catalog
from selector.change import Category, FileChange, Reached, Status
from selector.ownership.areas import area_names, path_names
from selector.ownership.description import named_in_description
from selector.ownership.edited import edited_tests, supporting_files
from selector.ownership.links import EVIDENCE_CAP, Link
from selector.ownership.modules import module_name
from selector.ownership.operators import operator_driven
from selector.ownership.source import importing, mentions, named_alike, owned
from tests.selector.upstream import HEADER, MemoryTree, source_of_class


def catalog_of(files: Mapping[str, str]) -> Catalog:
    return build_catalog(MemoryTree(files))


def source_change(path: str, *names: str, status: Status = Status.MODIFIED, old_path: str | None = None) -> FileChange:
    reached = tuple(Reached(name, name) for name in names)
    return FileChange(path, old_path, status, Category.PYTHON_SOURCE, symbols=names, reached=reached)


def change_of_tests(
    path: str, *symbols: str, module_level: bool = False, status: Status = Status.MODIFIED, doubt: str | None = None
) -> FileChange:
    return FileChange(path, None, status, Category.TEST, symbols=symbols, module_level=module_level, doubt=doubt)


def linked(links: Iterable[Link]) -> dict[str, float]:
    return {str(link.test.test).removeprefix("test/"): link.reason.score or 0 for link in links}


def must_run(links: Iterable[Link]) -> set[str]:
    return {str(link.test.test).removeprefix("test/") for link in links if link.must_run}


EDITED = catalog_of(
    {
        "test/test_a.py": (
            "def shared(): pass\n"
            "class Common:\n    def test_common(self): pass\n"
            "class TestA(Common, TestCase):\n"
            "    def _check(self): shared()\n"
            "    def test_x(self): self._check()\n"
            "    def test_y(self): pass\n"
        ),
        "test/test_b.py": "class TestB(TestCase):\n    def test_b(self): pass\n",
    }
)


@pytest.mark.parametrize(
    ("change", "tests"),
    [
        (change_of_tests("test/test_a.py", "TestA.test_y"), {"test_y"}),
        (change_of_tests("test/test_a.py", "TestA.test_y.inner"), {"test_y"}),
        (change_of_tests("test/test_a.py", "TestA._check"), {"test_x"}),
        (change_of_tests("test/test_a.py", "shared"), {"test_x"}),
        (change_of_tests("test/test_a.py", "TestA"), {"test_x", "test_y", "test_common"}),
        (change_of_tests("test/test_a.py", "Common.test_common"), {"test_common"}),
        (change_of_tests("test/test_a.py", "TestA.test_removed"), set()),
        (change_of_tests("test/test_a.py", "TestA.unused"), {"test_x", "test_y", "test_common"}),
        (change_of_tests("test/test_a.py", "TestA.test_y", module_level=True), {"test_x", "test_y", "test_common"}),
        (change_of_tests("test/test_a.py", status=Status.ADDED), {"test_x", "test_y", "test_common"}),
        (change_of_tests("test/test_a.py", doubt="does not parse"), {"test_x", "test_y", "test_common"}),
        (change_of_tests("test/test_gone.py", "TestA", status=Status.DELETED), set()),
        (source_change("torch/a.py", "TestA"), set()),
    ],
)
def test_edited_tests_must_run(change: FileChange, tests: set[str]) -> None:
    assert must_run(edited_tests(change, EDITED)) == {f"test_a.py::TestA::{name}" for name in tests}


def test_golden_text_belongs_to_its_test() -> None:
    change = FileChange("test/expect/TestA.test_x-cuda.expect", None, Status.MODIFIED, Category.TEST)
    assert must_run(supporting_files(change, EDITED)) == {"test_a.py::TestA::test_x"}


def test_a_shared_test_module_belongs_to_its_importers() -> None:
    catalog = catalog_of(
        {
            "test/inductor/test_a.py": "from .common import check\ndef test_a(): pass\n",
            "test/inductor/test_b.py": "import common\ndef test_b(): pass\n",
            "test/test_c.py": "from inductor.common import check\ndef test_c(): pass\n",
            "test/test_d.py": "import common\ndef test_d(): pass\n",
        }
    )
    change = change_of_tests("test/inductor/common.py", "check")
    assert linked(supporting_files(change, catalog)).keys() == {
        "inductor/test_a.py::test_a", "inductor/test_b.py::test_b", "test_c.py::test_c",
    }  # fmt: skip


def test_test_data_belongs_to_the_tests_around_it() -> None:
    catalog = catalog_of({"test/jit/test_a.py": "def test_a(): pass\n", "test/test_b.py": "def test_b(): pass\n"})
    near = FileChange("test/jit/fixtures/old/model.ptl", None, Status.BINARY, Category.TEST)
    assert linked(supporting_files(near, catalog)).keys() == {"jit/test_a.py::test_a"}
    far = FileChange("test/data/x.json", None, Status.MODIFIED, Category.TEST)
    assert linked(supporting_files(far, catalog)).keys() == {"jit/test_a.py::test_a", "test_b.py::test_b"}


def test_tests_that_mention_a_changed_name_must_run() -> None:
    catalog = catalog_of(
        {
            "test/test_a.py": (
                "class TestA(TestCase):\n"
                "    def test_direct(self): torch.unravel_index(x)\n"
                "    def test_string(self): run('unravel_index')\n"
                "    def test_helped(self): self._check()\n"
                "    def _check(self): torch.unravel_index(x)\n"
                "    def test_comment(self): pass  # unravel_index\n"
                "    def test_longer_name(self): unravel_index_not()\n"
            )
        }
    )
    links = list(mentions(source_change("torch/functional.py", "unravel_index"), catalog))
    assert must_run(links) == {f"test_a.py::TestA::test_{name}" for name in ("direct", "string", "helped")}
    evidence = {link.test.test.name: link.reason.evidence for link in links}
    assert evidence["test_direct"] == "mentions unravel_index of torch/functional.py"
    assert evidence["test_helped"] == "mentions unravel_index through TestA._check of torch/functional.py"


def test_a_name_that_everybody_says_is_no_reason_to_must_run() -> None:
    tests = source_of_class("TestA", *(f"test_{number}: model.forward()" for number in range(201)))
    links = list(mentions(source_change("torch/nn/x.py", "forward"), catalog_of({"test/test_a.py": tests})))
    assert len(links) == 201
    assert must_run(links) == set()


def test_names_of_a_new_file_are_no_reason_to_must_run() -> None:
    catalog = catalog_of({"test/test_a.py": source_of_class("TestA", "test_x: fresh()")})
    links = list(mentions(source_change("torch/new.py", "fresh", status=Status.ADDED), catalog))
    assert linked(links).keys() == {"test_a.py::TestA::test_x"}
    assert must_run(links) == set()


@pytest.mark.parametrize(
    ("source", "test_file", "score"),
    [
        ("torch/nn/utils/parametrize.py", "test/nn/test_parametrize.py", 0.75),
        ("torch/_inductor/codegen/cpp.py", "test/inductor/test_cpp.py", 0.75),
        ("torch/_inductor/codegen/cpp.py", "test/inductor/test_fx.py", 0.3),
        ("torch/nn/functional.py", "test/test_nn.py", 0.35),
        ("torch/linalg/__init__.py", "test/test_linalg.py", 0.75),
        ("torch/nn/modules/module.py", "test/test_modules.py", 0.75),
        ("torch/functional.py", "test/test_nn.py", 0.0),
        ("torch/__init__.py", "test/test_torch.py", 0.0),
    ],
)
def test_paths_that_are_named_alike_are_linked(source: str, test_file: str, score: float) -> None:
    links = linked(named_alike(source_change(source), catalog_of({test_file: "def test_a(): pass\n"})))
    assert list(links.values()) == ([score] if score else [])


def test_a_moved_file_is_linked_by_its_old_name_too() -> None:
    change = source_change("torch/_new.py", status=Status.RENAMED, old_path="torch/_old.py")
    catalog = catalog_of({"test/test_old.py": "from torch._old import x\ndef test_a(): pass\n"})
    assert linked(named_alike(change, catalog))
    assert linked(importing(change, catalog))


def test_importing_the_module_links_and_importing_torch_does_not() -> None:
    catalog = catalog_of(
        {
            "test/test_exact.py": "from torch.nn.utils import prune\ndef test_a(): prune.x()\ndef test_b(): pass\n",
            "test/test_name.py": "from torch.nn.utils.prune import identity\ndef test_a(): pass\n",
            "test/test_use.py": "import torch\ndef test_a(): torch.nn.utils.prune.identity()\n",
            "test/test_package.py": "import torch.nn.utils\ndef test_a(): pass\n",
            "test/test_none.py": "import torch\nfrom torch import Tensor\ndef test_a(): pass\n",
        }
    )
    assert linked(importing(source_change("torch/nn/utils/prune.py"), catalog)) == {
        "test_exact.py::test_a": 0.7,
        "test_exact.py::test_b": 0.45,
        "test_name.py::test_a": 0.45,
        "test_use.py::test_a": 0.7,
        "test_package.py::test_a": 0.15,
    }
    assert linked(importing(source_change("torch/__init__.py"), catalog)) == {}


def test_a_module_that_everybody_imports_is_a_weak_link() -> None:
    files = {f"test/test_{number}.py": "import torch.nn.functional as F\ndef test_a(): pass\n" for number in range(30)}
    links = linked(importing(source_change("torch/nn/functional.py"), catalog_of(files)))
    assert set(links.values()) == {0.15}
    assert linked(importing(source_change("torch/nn/functional/inner.py"), catalog_of(files))) == {}


def test_owner_labels_link_their_area() -> None:
    catalog = catalog_of(
        {
            "test/test_a.py": HEADER + "def test_a(): pass\n",
            "test/test_b.py": '# Owner(s): ["module: unknown"]\ndef test_b(): pass\n',
        }
    )
    assert linked(owned(source_change("torch/nn/modules/linear.py"), catalog)).keys() == {"test_a.py::test_a"}
    assert linked(owned(source_change("torch/fft/__init__.py"), catalog)) == {}


def test_labels_and_paths_meet_in_names() -> None:
    assert area_names("module: nn") == ("nn",)
    assert area_names("module: linear algebra") == ("linalg",)
    assert area_names("oncall: distributed") == ("distributed",)
    assert area_names("module: tests") == area_names("nonsense") == ()
    assert path_names("torch/_inductor/codegen/__init__.py") == ("inductor", "codegen")
    assert module_name("torch/nn/__init__.py") == "torch.nn"


def test_operators_of_the_database_link_generated_tests() -> None:
    tests = "class TestA(TestCase):\n    @ops(op_db)\n    def test_ops(self): pass\n    def test_plain(self): pass\n"
    database = {"torch/testing/_internal/common_methods_invocations.py": "OpInfo('solve')"}
    with_database = catalog_of({"test/test_a.py": tests, **database})
    change = source_change("torch/linalg.py", "_private", "solve")
    assert linked(operator_driven(change, with_database)).keys() == {"test_a.py::TestA::test_ops"}
    assert linked(operator_driven(source_change("torch/x.py", "unrelated"), with_database)) == {}
    assert linked(operator_driven(change, catalog_of({"test/test_a.py": tests})))
    assert linked(operator_driven(source_change("torch/x.py", "_private"), catalog_of({"test/test_a.py": tests}))) == {}


def test_the_description_can_name_tests_that_exist() -> None:
    text = "Fixes TestA and test_b, see test_nothing; also TestMissing." + " x" * 200_000
    assert linked(named_in_description(text, EDITED)).keys() == {
        "test_a.py::TestA::test_x", "test_a.py::TestA::test_y", "test_a.py::TestA::test_common",
        "test_b.py::TestB::test_b",
    }  # fmt: skip
    assert must_run(named_in_description(text, EDITED)) == set()
    assert linked(named_in_description("the tests pass", EDITED)) == {}


def test_an_edited_body_beside_the_harness_runs_the_tests_that_inherit_or_generate_from_it() -> None:
    body = "torch/testing/_internal/distributed/dist_test.py"
    imported = "from torch.testing._internal.distributed.dist_test import Outer\n"
    catalog = catalog_of(
        {
            body: "class Outer:\n    class Base:\n        def test_x(self): pass\n        def test_y(self): pass\n",
            "test/test_inherits.py": f"{imported}class TestA(Outer.Base): pass\n",
            "test/test_generates.py": f"{imported}globals().update(generate(Outer))\n",
            "test/test_far.py": "def test_far(): pass\n",
        }
    )
    change = FileChange(body, None, Status.MODIFIED, Category.TEST_HARNESS, symbols=("Outer.Base.test_x",))
    expected = {"test_inherits.py::TestA::test_x", "test_generates.py"}
    assert linked(edited_tests(change, catalog)).keys() == must_run(edited_tests(change, catalog)) == expected
    elsewhere = FileChange(body, None, Status.MODIFIED, Category.TEST_HARNESS, symbols=("unused",))
    assert linked(edited_tests(elsewhere, catalog)) == {}


def test_evidence_is_capped() -> None:
    long_name = "n" * 10_000
    catalog = catalog_of({"test/test_a.py": f"def test_x(): {long_name}()\n"})
    (found,) = mentions(source_change("torch/x.py", long_name), catalog)
    assert len(found.reason.evidence) == EVIDENCE_CAP
