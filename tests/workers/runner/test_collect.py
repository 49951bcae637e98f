"""Collecting a file: every test with its names, or the reason why not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.contract import MESSAGE_CAP, Observation
from selector.types import CollectedTest
from tests.workers.runner.bench import FILE, Bench
from workers.runner.types import WantedTest


def test_generated_tests_name_their_source_method_operator_and_dtype(torch_bench: Bench) -> None:
    """Taken from PyTorch's generator, because the names alone do not tell: see `test_int8` and the dotted operator."""
    torch_bench.write("""
        import torch
        from torch.testing._internal.common_device_type import dtypes, instantiate_device_type_tests, ops
        from torch.testing._internal.common_methods_invocations import op_db
        from torch.testing._internal.common_utils import TestCase, instantiate_parametrized_tests, parametrize

        CHOSEN = [op for op in op_db if op.full_name in ("div.floor_rounding", "nn.functional.relu")]

        class TestOne(TestCase):
            def test_int8(self, device): pass
            @dtypes(torch.float32)
            def test_pair(self, device, dtype): pass
            @ops(CHOSEN, allowed_dtypes=(torch.float16,))
            def test_op(self, device, dtype, op): pass
            @parametrize("op", ["add"])
            def test_word(self, device, op): pass

        class TestPlain(TestCase):
            def test_sum(self): pass
            @parametrize("n", [1])
            def test_sum_of(self, n): pass

        instantiate_device_type_tests(TestOne, globals())
        instantiate_parametrized_tests(TestPlain)
    """)
    collection = torch_bench.collect()
    assert collection.error == ""
    described = {(test.id, test.cls, test.base, test.op, test.dtype) for test in collection.tests}
    assert {test.base: test.parameters for test in collection.tests if test.parameters} == {
        "test_word": (("op", "add"),),
        "test_sum_of": (("n", "1"),),
    }
    one, plain = f"{FILE}::TestOneCPU::", f"{FILE}::TestPlain::"
    assert described == {
        (one + "test_int8_cpu", "TestOne", "test_int8", None, None),
        (one + "test_pair_cpu_float32", "TestOne", "test_pair", None, "float32"),
        (one + "test_op_div_floor_rounding_cpu_float16", "TestOne", "test_op", "div.floor_rounding", "float16"),
        (one + "test_op_nn_functional_relu_cpu_float16", "TestOne", "test_op", "nn.functional.relu", "float16"),
        (one + "test_word_op_add_cpu", "TestOne", "test_word", None, None),
        (plain + "test_sum", "TestPlain", "test_sum", None, None),
        (plain + "test_sum_of_n_1", "TestPlain", "test_sum_of", None, None),
    }
    assert {test.file for test in collection.tests} == {FILE}
    assert {test.method for test in collection.tests} == {test.id.rpartition("::")[2] for test in collection.tests}


def test_functions_parameters_and_nested_classes_keep_pytest_names(bench: Bench) -> None:
    bench.write("""
        import pytest

        @pytest.mark.parametrize("text", ["a::b"])
        def test_alone(text): pass

        class TestOuter:
            class TestInner:
                def test_deep(self): pass
    """)
    assert bench.collect().tests == (
        CollectedTest(
            f"{FILE}::test_alone[a::b]", FILE, "", "test_alone", "test_alone[a::b]", parameters=(("text", "a::b"),)
        ),
        CollectedTest(
            f"{FILE}::TestOuter::TestInner::test_deep", FILE, "TestOuter::TestInner", "test_deep", "test_deep"
        ),
    )


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("import no_such_module", "No module named 'no_such_module'"),
        ("def broken(:", "SyntaxError"),
        ("raise SystemExit(4)", "SystemExit(4)"),
        ("raise KeyboardInterrupt", "while the file was collected: raised KeyboardInterrupt()"),
        ("import unittest; raise unittest.SkipTest('not on this machine')", "skipped at import: not on this machine"),
        ("import os; os._exit(5)", "exit status 5"),
        ("import os; os.abort()", "SIGABRT"),
        ("raise ValueError('x' * 100000)", "xxxx"),
    ],
)
def test_a_file_that_cannot_be_imported_says_why(bench: Bench, source: str, reason: str) -> None:
    bench.write(source)
    collection = bench.collect()
    assert collection.tests == ()
    assert reason in collection.error
    assert len(collection.error) <= MESSAGE_CAP
    assert str(bench.folder) not in collection.error, "a path of the worker's"


def test_an_import_that_hangs_is_ended(bench: Bench) -> None:
    bench.limits = replace(bench.limits, collect_timeout_s=3)
    bench.write("import time; time.sleep(3600)")
    assert "not collected within 3 s" in bench.collect().error


def test_a_broken_torch_is_the_reason_and_not_a_crash(bench: Bench) -> None:
    assert bench.overlay is not None
    bench.write("def test_one(): pass")
    (bench.overlay / "torch/__init__.py").write_text("raise OSError('libtorch is not for this machine')")
    collection = bench.collect()
    assert "torch cannot be imported" in collection.error
    assert "libtorch is not for this machine" in collection.error


def test_a_file_outside_the_checkout_is_not_touched(bench: Bench) -> None:
    bench.write("raise RuntimeError('imported')")
    (bench.folder / "outside.py").write_text("raise RuntimeError('imported')")
    (bench.checkout / "test/test_link.py").symlink_to(bench.folder / "outside.py")
    for file in ("../outside.py", "test/test_link.py", str(bench.folder / "outside.py"), "test/none.py", "test"):
        assert bench.collect(file).error == f"the checkout has no file {file}"


def test_the_configuration_of_the_checkout_is_not_read(bench: Bench) -> None:
    """Upstream's own pytest settings and conftest are of another pytest."""
    bench.write("raise RuntimeError('conftest')", "test/conftest.py")
    bench.write("[pytest]\naddopts = --no-such-option\n", "pytest.ini")
    bench.write("def test_one(): pass")
    assert [test.method for test in bench.collect().tests] == ["test_one"]


def test_a_file_in_a_package_and_a_file_deep_in_folders_are_found(bench: Bench) -> None:
    """A package's own set-up belongs to its files; neighbours are not looked at."""
    bench.write("raise RuntimeError('a neighbour')", "test/deep/test_neighbour.py")
    bench.write("def test_one(): pass", "test/deep/er/test_sample.py")
    bench.write("ready = []\ndef setup_module(module): ready.append(1)", "test/deep/package/__init__.py")
    bench.write("from . import ready\ndef test_two(): assert ready", "test/deep/package/test_two.py")
    deep = bench.collect("test/deep/er/test_sample.py")
    assert [(test.id, deep.error) for test in deep.tests] == [("test/deep/er/test_sample.py::test_one", "")]
    packed = "test/deep/package/test_two.py"
    assert [test.id for test in bench.collect(packed).tests] == [f"{packed}::test_two"]
    wanted = [WantedTest(f"{packed}::test_two")]
    bench.runner.run(bench.tree, packed, wanted, bench.outcomes.append, lambda: False)
    assert [(outcome.observation, outcome.detail) for outcome in bench.outcomes] == [(Observation.PASSED, "")]
