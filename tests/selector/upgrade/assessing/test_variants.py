"""Variants are counted as the text tells them, and let through as the manifests decide for runs."""

from __future__ import annotations

import pytest

from selector.manifests import ManifestSet
from selector.upgrade.assessing.governing import Governing
from selector.upgrade.assessing.variants import Admitted, Made, Variants
from tests.selector.upgrade.sides import loaded, named, side, things

OPERATORS = {"add": "float16 float32 float64", "sin": "float16 int64"}
SUPPORTED = "global:\n  supported_dtypes:\n    - name: float16\n    - name: int64"


def variants(method: str, manifests: ManifestSet | None = None) -> Variants:
    return Variants(side(things(method), OPERATORS), manifests, "spyre")


def admitted(method: str, entries: str, more: str = SUPPORTED) -> Admitted:
    manifests = loaded(entries, more=more)
    return variants(method, manifests).admitted(named("test_x"), Governing(manifests).ruling(named("test_x")))


@pytest.mark.parametrize(
    ("decorators", "count"),
    [
        ("", 1),
        ("@ops(op_db)", 5),
        ("@ops(op_db, dtypes=OpDTypes.none)", 2),
        ("@ops(op_db, dtypes=OpDTypes.any_one)", 2),
        ("@ops(op_db, allowed_dtypes=(torch.half, torch.double))", 3),
        ("@dtypes(torch.half, torch.float)", 2),
        ("@onlyCUDA\n@ops(op_db)", 0),
        ("@parametrize('x', [1, 2])", 1),
    ],
)
def test_variants_are_those_of_operators_and_dtypes(decorators: str, count: int) -> None:
    found = side(things(f"{decorators}\ndef test_x(self, device): ..."), OPERATORS)
    assert Variants(found, None, "spyre").total(found.tests[named("test_x")]) == count


def test_dtypes_and_operators_are_let_through_as_in_a_run() -> None:
    over_ops = "@ops(op_db)\ndef test_x(self, device, dtype, op): ..."
    required = "- names: [test_x]"
    assert set(admitted(over_ops, required).places) == {
        Made("add", "float16"),
        Made("sin", "float16"),
        Made("sin", "int64"),
    }
    without = "- names: [test_x]\n  edits:\n    ops:\n      exclude:\n        - name: sin"
    assert set(admitted(over_ops, without).places) == {Made("add", "float16")}
    listed = f"{SUPPORTED}\n  supported_ops:\n    - name: sin"
    assert set(admitted(over_ops, required, listed).places) == {Made("sin", "float16"), Made("sin", "int64")}


def test_each_variant_has_the_entry_that_governs_it() -> None:
    """Of two entries about one test, the dtypes tell."""
    entries = """
    - names: [test_x]
      mode: xfail
      edits: {dtypes: {include: [{name: int64}]}}
    - names: [test_x]
    """
    found = admitted("@dtypes(torch.half, torch.long)\ndef test_x(self, device, dtype): ...", entries)
    assert dict(found.places) == {Made("", "float16"): "m.yaml:9", Made("", "int64"): "m.yaml:6"}
    assert (found.count("m.yaml:9"), found.count("m.yaml:6")) == (1, 1)


def test_a_skipped_test_lets_none_through() -> None:
    assert admitted("def test_x(self, device): ...", "- names: [test_x]\n  mode: skip").is_none
