"""Lists of collected tests for work without a collection: what is told is kept, and little is guessed."""

from __future__ import annotations

import json

import pytest

from selector.manifests.universe import UniverseError, device_of, plain_ids, read_universe
from selector.types import CollectedTest

TOLD = {
    "id": "test/test_a.py::TestAPRIVATEUSE1::test_op_mul_toy_int8",
    "file": "${TORCH_ROOT}/test/nn/../test_a.py",
    "class": "TestA",
    "base": "test_op",
    "method": "test_op_mul_toy_int8",
    "op": "mul",
    "dtype": "int8",
}


@pytest.mark.parametrize("bare", [True, False])
def test_objects_are_taken_as_told(bare: bool) -> None:
    own = {**TOLD, "id": "x", "file": "${TORCH_DEVICE_ROOT}/tests/./test_own.py", "class": "", "op": None}
    first, second = read_universe(json.dumps([TOLD, own] if bare else {"universe": [TOLD, own]}))
    assert first == CollectedTest(
        TOLD["id"], "test/test_a.py", "TestA", "test_op", TOLD["method"], op="mul", dtype="int8"
    )
    assert (second.file, second.cls, second.op) == ("${TORCH_DEVICE_ROOT}/tests/test_own.py", "", None)


@pytest.mark.parametrize(
    ("node", "device", "cls", "base", "method"),
    [
        ("t.py::TestATOY::test_x_toy", "toy", "TestA", "test_x", "test_x_toy"),
        ("t.py::TestATOY::test_x_toy_int8", "toy", "TestA", "test_x", "test_x_toy_int8"),
        ("t.py::TestAPRIVATEUSE1::test_x_mul_toy_int8", "toy", "TestA", "test_x_mul", "test_x_mul_toy_int8"),
        ("t.py::TestA::test_toys_toy", "toy", "TestA", "test_toys", "test_toys_toy"),
        ("t.py::TestA::test_toys", "toy", "TestA", "test_toys", "test_toys"),
        ("t.py::TestATOY::test_x_toy", "", "TestATOY", "test_x_toy", "test_x_toy"),
        ("t.py::test_x[a::b-c]", "toy", "", "test_x", "test_x[a::b-c]"),
        ("t.py::Outer::TestA::test_x", "toy", "Outer::TestA", "test_x", "test_x"),
        ("t.py::TOY::test_x_toy", "toy", "TOY", "test_x", "test_x_toy"),
    ],
)
def test_a_plain_id_is_taken_apart_at_the_device(node: str, device: str, cls: str, base: str, method: str) -> None:
    assert read_universe(json.dumps([node]), device) == (CollectedTest(node, "t.py", cls, base, method),)


def test_the_device_may_stand_in_the_text() -> None:
    text = json.dumps({"device": "toy", "universe": ["t.py::TestATOY::test_x_toy_int8"]})
    assert device_of(text) == "toy"
    assert read_universe(text)[0].base == "test_x"
    assert read_universe(text, "other")[0].base == "test_x_toy_int8"
    assert device_of("[]") == ""


def test_a_models_test_tells_its_dtype() -> None:
    (test,) = read_universe(json.dumps(["models/granite::logits[float16]"]), "spyre")
    assert (test.base, test.method, test.dtype) == ("logits", "logits[float16]", "float16")


def test_what_is_known_by_its_id_alone_can_be_asked_for() -> None:
    assert plain_ids(json.dumps({"universe": [TOLD, "t.py::test_x"]})) == {"t.py::test_x"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ('"x"', "write a JSON list of tests"),
        ("{}", "write a JSON list of tests"),
        ("[3]", "test 1 is neither a node id nor an object"),
        ('["t.py::a", "no id"]', "test 2 is not `file::Class::method`"),
        ('["t.py::"]', "test 1 is not `file::Class::method`"),
        ('["t.py::a", "t.py::a"]', "'t.py::a' stands more than once"),
        (json.dumps([{**TOLD, "base": ""}]), "test 1 needs `base` as text"),
        (json.dumps([{**TOLD, "class": 3}]), "test 1 needs `class` as text"),
        (json.dumps([{**TOLD, "dtype": 3}]), "`dtype` of test 1 must be text or left out"),
    ],
)
def test_what_is_no_list_of_tests_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(UniverseError, match=message.replace("(", r"\(")):
        read_universe(text)
