"""What the decorators of a test say is known without running them."""

from __future__ import annotations

import ast

from selector.catalog import CatalogTest, Mark, build_catalog
from selector.catalog.marks import read_decoration
from tests.selector.upstream import MemoryTree


def the_test(*decorators: str) -> CatalogTest:
    lines = "".join(f"    {decorator}\n" for decorator in decorators)
    source = f"class TestA(TestCase):\n{lines}    def test_x(self): pass\n"
    return next(iter(build_catalog(MemoryTree({"test/test_a.py": source}))))


def test_a_mark_has_the_names_and_strings_of_its_arguments_in_source_order() -> None:
    assert the_test("@ops([op for op in op_db if op.name == 'add'], allowed_dtypes=(torch.half,))").marks == (
        Mark("ops", ("op", "op_db", "name", "torch", "half"), ("add",)),
    )


def test_marks_stand_in_the_order_of_the_decorators() -> None:
    test = the_test("@unittest.skipIf(IS_WINDOWS, 'slow')", "@onlyCPU", "@dtypes(torch.float32, torch.int8)")
    assert [mark.name for mark in test.marks] == ["skipIf", "onlyCPU", "dtypes"]
    assert {"unittest", "skipIf", "IS_WINDOWS", "onlyCPU", "float32"} <= test.decorators


def test_databases_dtypes_and_devices_are_read_off() -> None:
    test = the_test("@onlyNativeDeviceTypes", "@dtypesIfCUDA(torch.half)", "@modules(module_db, dtypes=[torch.double])")
    assert test.databases == ("module_db", "torch", "double")
    assert test.dtypes == ("half", "double")
    assert test.only_on == ("onlyNativeDeviceTypes",)


def test_a_test_without_decorators_has_no_marks() -> None:
    assert (the_test().marks, the_test().databases, the_test().dtypes, the_test().only_on) == ((), (), (), ())


def test_decorators_that_are_no_names_are_read_too() -> None:
    (lambda_, subscript, call) = read_decoration(
        [ast.parse(text, mode="eval").body for text in ("lambda f: g(f)", "table['x']", "make(1)(two)")]
    ).marks
    assert (lambda_.name, subscript.name, call) == ("f", "table", Mark("make", ("two",)))


def test_an_expression_deeper_than_our_stack_is_read() -> None:
    chain: ast.expr = ast.Name("root")
    for _ in range(5_000):
        chain = ast.Attribute(chain, "part")
    assert read_decoration([chain]).names == {"root", "part"}


def test_long_strings_are_left_out() -> None:
    assert the_test(f"@skip('{'x' * 500}', 'short')").marks == (Mark("skip", (), ("short",)),)
