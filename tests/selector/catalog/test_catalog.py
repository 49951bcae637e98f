"""The catalog lists what a test runner would collect, with what each test reaches."""

from __future__ import annotations

from selector.catalog import Catalog, CatalogTest, build_catalog
from tests.selector.upstream import MemoryTree


def catalog_of(**files: str) -> Catalog:
    return build_catalog(MemoryTree({f"test/{name}.py": text for name, text in files.items()}))


def ids(catalog: Catalog) -> set[str]:
    return {str(test.test).removeprefix("test/") for test in catalog}


def one(catalog: Catalog, test_id: str) -> CatalogTest:
    return next(test for test in catalog if str(test.test) == f"test/{test_id}")


def test_classes_functions_and_only_test_files_are_listed() -> None:
    catalog = catalog_of(
        test_a="class TestA(TestCase):\n    def test_x(self): pass\n    def helper(self): pass\ndef test_f(): pass\n",
        helper="class TestB(TestCase):\n    def test_y(self): pass\n",
    )
    assert ids(catalog) == {"test_a.py::TestA::test_x", "test_a.py::test_f"}
    assert catalog.size == 2


def test_a_mixin_runs_in_its_subclasses_and_not_by_itself() -> None:
    catalog = catalog_of(
        test_a="class Common:\n    def test_x(self): pass\nclass TestA(Common, TestCase):\n    def test_y(self): pass\n"
    )
    assert ids(catalog) == {"test_a.py::TestA::test_x", "test_a.py::TestA::test_y"}
    assert one(catalog, "test_a.py::TestA::test_x").origin.symbol == "Common.test_x"


def test_a_class_handed_to_the_device_framework_is_listed() -> None:
    catalog = catalog_of(
        test_a="class Plain:\n    def test_x(self): pass\ninstantiate_device_type_tests(Plain, globals())\n"
    )
    assert "test_a.py::Plain::test_x" in ids(catalog)


def test_unknown_bases_may_be_test_cases() -> None:
    assert ids(catalog_of(test_a="class Odd(make_base()):\n    def test_x(self): pass\n")) == {"test_a.py::Odd::test_x"}


def test_bases_and_imported_classes_of_other_test_files_are_followed() -> None:
    catalog = build_catalog(
        MemoryTree(
            {
                "test/jit/test_base.py": "class TestBase(TestCase):\n    def test_x(self): pass\n",
                "test/test_jit.py": "from jit.test_base import TestBase\n",
                "test/jit/test_more.py": "from test_base import TestBase as B\nclass TestMore(B):\n    pass\n",
            }
        )
    )
    assert {
        "test_jit.py::TestBase::test_x",
        "jit/test_base.py::TestBase::test_x",
        "jit/test_more.py::TestMore::test_x",
    } <= ids(catalog)


def test_classes_that_inherit_from_each_other_end() -> None:
    assert ids(catalog_of(test_a="class A(B):\n    def test_x(self): pass\nclass B(A):\n    pass\n")) == set() | {
        "test_a.py"
    }


def test_a_test_reaches_helpers_fixtures_and_classes_it_names() -> None:
    catalog = catalog_of(
        test_a=(
            "def shared(x): return unravel_index(x)\n"
            "class Model(Module):\n    def forward(self): return addmm()\n"
            "class TestA(TestCase):\n"
            "    def setUp(self): seed_everything()\n"
            "    def _check(self): return shared(1)\n"
            "    def test_x(self): self._check()\n"
            "    def test_y(self): Model()\n"
        )
    )
    reached = {test.test.name: {helper.symbol for helper in test.helpers} for test in catalog}
    assert reached == {"test_x": {"TestA.setUp", "TestA._check", "shared"}, "test_y": {"TestA.setUp", "Model"}}


def test_decorators_belong_to_the_words_of_a_test() -> None:
    catalog = catalog_of(
        test_a="class TestA(TestCase):\n    @ops(op_db)\n    @dtypes(torch.half)\n    def test_x(self): pass\n"
    )
    test = one(catalog, "test_a.py::TestA::test_x")
    assert {"ops", "op_db", "dtypes", "half"} <= test.words & test.decorators


def test_a_file_that_does_not_parse_is_one_entry_for_all_its_tests() -> None:
    catalog = build_catalog(MemoryTree({"test/test_a.py": "class TestA(:\n    unravel_index\n"}))
    (entry,) = catalog
    assert str(entry.test) == "test/test_a.py"
    assert "unravel_index" in entry.words
    assert not catalog.files["test/test_a.py"].parsed


def test_a_file_that_makes_tests_has_an_entry_for_them() -> None:
    catalog = catalog_of(
        test_a="class TestA(TestCase):\n    def test_x(self): pass\nfor op in db:\n    setattr(TestA, op, make(op))\n"
    )
    assert ids(catalog) == {"test_a.py", "test_a.py::TestA::test_x"}


def test_a_file_that_cannot_be_read_is_kept() -> None:
    class Unreadable(MemoryTree):
        def read(self, path: str) -> str | None:
            return None

    assert ids(build_catalog(Unreadable({"test/test_a.py": ""}))) == {"test_a.py"}


def test_operator_names_come_from_the_database() -> None:
    database = "db = [OpInfo('linalg.solve', x=1), UnaryUfuncInfo(\n    'abs'), ModuleInfo(torch.nn.Linear)]\n"
    tree = {"torch/testing/_internal/common_methods_invocations.py": database}
    assert build_catalog(MemoryTree(tree)).operators == frozenset({"linalg.solve", "solve", "abs"})
    assert build_catalog(MemoryTree({})).operators is None


def test_the_same_tree_gives_the_same_catalog() -> None:
    files = {f"test/test_{name}.py": f"class Test{name}(TestCase):\n    def test_x(self): pass\n" for name in "cab"}
    first, second = build_catalog(MemoryTree(files)), build_catalog(MemoryTree(dict(reversed(files.items()))))
    assert list(first) == list(second)
    assert list(first.files) == ["test/test_a.py", "test/test_b.py", "test/test_c.py"]


def test_what_a_file_says_is_what_its_tests_and_their_helpers_say() -> None:
    catalog = catalog_of(
        test_a="def check(): addmm()\ndef unused(): solve()\ndef test_x(): check()\ndef test_y(): roll()\n",
        test_b="class Broken(:\n    pinv\n",
    )
    says = catalog.says["test/test_a.py"]
    assert {"addmm", "check", "roll"} <= says
    assert "solve" not in says
    assert "pinv" in catalog.says["test/test_b.py"]
    assert says == frozenset().union(
        *(
            text
            for test in catalog.files["test/test_a.py"].tests
            for text in (test.words, *(h.words for h in test.helpers))
        )
    )
