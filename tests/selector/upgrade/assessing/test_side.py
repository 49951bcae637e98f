"""What the text of a tree tells about generated tests: which classes are made for devices, and over which operators."""

from __future__ import annotations

import pytest

from tests.selector.upgrade.sides import CLASS, named, side, things

TEST = "@ops(%s)\ndef test_x(self, device, dtype, op): ..."


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("globals()", True),
        ("globals(), only_for=('cpu', 'cuda')", False),
        ("globals(), allow_xpu=True, only_for='xpu', allow_mps=True", False),
        ("globals(), only_for=('cuda', 'privateuse1')", True),
        ("globals(), only_for=DEVICES", False),
        ("globals(), only_for=known_elsewhere()", True),
        ("globals(), except_for='cuda'", True),
    ],
)
def test_a_class_is_made_for_the_device_unless_its_list_of_devices_leaves_it_out(
    arguments: str, expected: bool
) -> None:
    end = f"DEVICES = ('cpu',)\ninstantiate_device_type_tests({CLASS}, {arguments})"
    assert side(things("def test_x(self, device): ...", end=end)).is_generic(named("test_x"), "spyre") is expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("op_db", ("add", "mul")),
        ("_some_ops", ("add", "mul")),
        ("elsewhere.list_of_them", None),
        ("()", None),
    ],
)
def test_a_list_of_operators_is_followed_to_the_database(source: str, expected: tuple[str, ...] | None) -> None:
    """What a list of the test file leaves out by a condition is not evaluated."""
    text = "_kept = [op for op in op_db if op.ref]\n_some_ops = partial(filter, _kept)\n" + things(TEST % source)
    found = side(text, {"add": "float16", "mul": "float32"})
    assert found.operators_of(found.tests[named("test_x")]) == expected


def test_a_test_that_no_operator_generates_has_none() -> None:
    found = side(things("def test_x(self, device): return op_db"), {"add": "float16"})
    assert found.operators_of(found.tests[named("test_x")]) is None
