"""What the manifests expect of collected tests, in the framework's order of checks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from selector.manifests import NOT_IN_MANIFESTS, ManifestSet, plan
from selector.types import CollectedTest, Mode

LoadEntries = Callable[..., ManifestSet]
FILE = "test/test_things.py"


def collected(base: str, suffix: str = "", op: str | None = None, dtype: str | None = None) -> CollectedTest:
    method = f"{base}{suffix}"
    return CollectedTest(f"{FILE}::TestThingsSPYRE::{method}", FILE, "TestThings", base, method, op, dtype)


def expected(manifests: ManifestSet, *tests: CollectedTest, tier: str = "") -> list[tuple[str, str]]:
    planned = plan(tests, manifests, "spyre", tier)
    assert [one.test for one in planned] == list(tests)
    return [(one.expectation.mode.value, one.expectation.rule) for one in planned]


def test_listed_tests_get_their_mode_and_the_rest_the_unlisted_one(load_entries: LoadEntries) -> None:
    manifests = load_entries(
        """
        - names: [TestThings::test_a]
          tags: [slow, nightly]
        - names: [test_b]
          mode: xfail_strict
        - names: [Another::test_c]
          mode: skip
          tags: [never_seen]
        """,
        unlisted="xfail",
    )
    tests = [collected(base, "_spyre") for base in ("test_a", "test_b", "test_c", "test_d")]
    assert [
        (one.expectation.mode, one.expectation.rule, one.expectation.provenance, one.expectation.tags)
        for one in plan(tests, manifests, "spyre")
    ] == [
        (Mode.MANDATORY_SUCCESS, "listed", "m.yaml:7", ("slow", "nightly")),
        (Mode.XFAIL_STRICT, "listed", "m.yaml:9", ()),
        (Mode.SKIP, "listed", "m.yaml:11", ()),
        (Mode.XFAIL, "unlisted", "m.yaml:4", ()),
    ]


def test_a_generated_name_in_a_manifest_matches_nothing(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_a_spyre_float32]")
    assert expected(manifests, collected("test_a", "_spyre_float32")) == [("skip", "unlisted")]


def test_a_test_of_a_file_in_no_manifest_is_not_run_and_says_so(load_entries: LoadEntries) -> None:
    other = CollectedTest("test/test_o.py::TSPYRE::test_a_spyre", "test/test_o.py", "T", "test_a", "test_a_spyre")
    (planned,) = plan([other], load_entries("[]"), "spyre")
    assert (planned.expectation.mode, planned.expectation.rule) == (Mode.SKIP, NOT_IN_MANIFESTS)
    assert planned.expectation.provenance == ""


CEILING = "supported_dtypes: [{name: float16}, {name: float32, force_xfail: true}]"


@pytest.mark.parametrize("told", [True, False], ids=["told dtype", "dtype read from the name"])
def test_dtypes_are_excluded_bounded_lifted_and_forced(load_entries: LoadEntries, told: bool) -> None:
    manifests = load_entries(
        """
        - names: [test_a]
          edits: {dtypes: {include: [{name: bfloat16}], exclude: [{name: float16}]}}
        - names: [test_b]
          mode: xfail_strict
        """,
        CEILING,
        unlisted="mandatory_success",
    )
    cases = [
        ("test_a", "float16", "skip", "dtype_excluded"),
        ("test_a", "bfloat16", "mandatory_success", "listed"),
        ("test_a", "float64", "skip", "dtype_unsupported"),
        ("test_a", "float32", "xfail", "force_xfail_dtype"),
        ("test_b", "float32", "xfail_strict", "listed"),
        ("test_b", "bfloat16", "skip", "dtype_unsupported"),
        ("test_c", "int8", "skip", "dtype_unsupported"),
        ("test_c", "float32", "xfail", "force_xfail_dtype"),
        ("test_c", "float16", "mandatory_success", "unlisted"),
    ]
    tests = [collected(base, f"_spyre_{dtype}", dtype=dtype if told else None) for base, dtype, _, _ in cases]
    assert expected(manifests, *tests) == [(mode, rule) for _, _, mode, rule in cases]


def test_a_told_dtype_is_believed_more_than_the_name(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_int8_pack, test_cast]", CEILING)
    tests = [
        collected("test_int8_pack", "_spyre"),
        collected("test_int8_pack", "_spyre_float16", dtype="float16"),
        collected("test_cast", "_spyre_float64_float16", dtype="float64"),
        collected("test_cast", "_spyre_float8_e4m3fn", dtype="float8_e4m3fn"),
    ]
    assert [rule for _, rule in expected(manifests, *tests)] == [
        "dtype_unsupported",
        "listed",
        "dtype_unsupported",
        "dtype_unsupported",
    ]


def test_without_a_ceiling_every_dtype_runs(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_a]")
    assert expected(manifests, collected("test_a", "_spyre_complex128")) == [("mandatory_success", "listed")]


SEVERAL = """
- names: [test_a]
  mode: xfail
  edits: {dtypes: {include: [{name: bfloat16}]}}
- names: [test_a]
  mode: skip
- names: [test_a]
  mode: xfail_strict
  edits: {dtypes: {include: [{name: int8}]}}
"""


@pytest.mark.parametrize(
    ("suffix", "supported", "line"),
    [
        ("_spyre_bfloat16", "", 7),
        ("_spyre_int8", "", 12),
        ("_spyre_float32", "", 10),
        ("_spyre", "", 10),
        ("_spyre_float16", CEILING, 10),
        ("_spyre_float64", CEILING, 7),
        ("_spyre", CEILING, 7),
    ],
)
def test_of_several_entries_the_dtype_chooses(
    load_entries: LoadEntries, suffix: str, supported: str, line: int
) -> None:
    (planned,) = plan([collected("test_a", suffix)], load_entries(SEVERAL, supported), "spyre")
    assert planned.expectation.provenance == f"m.yaml:{line}"


OPS = """
supported_ops:
  - mul
  - {name: add, dtypes: [{name: float16}]}
  - {name: div, force_xfail: true}
  - {name: nn.functional.gelu, force_xfail: true}
"""


def op_test(base: str, op: str, dtype: str, *, told: bool = True) -> CollectedTest:
    suffix = f"_{op.replace('.', '_')}_spyre_{dtype}"
    return collected(base, suffix, op if told else None, dtype if told else None)


def test_the_operator_list_filters_narrows_and_forces(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_op]", OPS)
    tests = [
        op_test("test_op", "mul", "float32"),
        op_test("test_op", "add", "float16"),
        op_test("test_op", "add", "float32"),
        op_test("test_op", "div", "float32"),
        op_test("test_op", "sub", "float32"),
        op_test("test_op", "nn.functional.gelu", "float32"),
        collected("test_op", "_spyre"),
    ]
    assert expected(manifests, *tests) == [
        ("mandatory_success", "listed"),
        ("mandatory_success", "listed"),
        ("skip", "op_dtype_narrowed"),
        ("xfail", "force_xfail_op"),
        ("skip", "op_not_supported"),
        ("xfail", "force_xfail_op"),
        ("mandatory_success", "listed"),
    ]


def test_the_operator_list_is_not_applied_where_it_would_leave_nothing(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_op, test_other]", OPS)
    tests = [op_test("test_op", "sub", "float32"), op_test("test_other", "mul", "float32")]
    assert expected(manifests, *tests) == [("mandatory_success", "listed"), ("mandatory_success", "listed")]


def test_the_operator_list_speaks_for_variants_and_forced_xfail_does_not(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_op]", OPS)
    tests = [
        op_test("test_op", "div.floor_rounding", "float32"),
        op_test("test_op", "add.decomposed", "float32"),
        op_test("test_op", "sub.rounded", "float32"),
    ]
    assert [rule for _, rule in expected(manifests, *tests)] == ["listed", "op_dtype_narrowed", "op_not_supported"]


def test_an_entrys_added_dtype_widens_the_dtypes_of_an_operator(load_entries: LoadEntries) -> None:
    entry = "- names: [test_op]\n  edits: {dtypes: {include: [{name: bfloat16}]}}"
    manifests = load_entries(entry, OPS)
    tests = [op_test("test_op", "add", "bfloat16"), op_test("test_op", "add", "int8")]
    assert [rule for _, rule in expected(manifests, *tests)] == ["listed", "op_dtype_narrowed"]


def test_excluding_an_operator_takes_its_variants_too(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_op]\n  edits: {ops: {exclude: [{name: add}, {name: linalg.norm}]}}")
    tests = [op_test("test_op", op, "float16") for op in ("add", "add_mm", "addmm", "linalg.norm.x", "linalg.normal")]
    assert [rule for _, rule in expected(manifests, *tests)] == [
        "op_excluded",
        "op_excluded",
        "listed",
        "op_excluded",
        "listed",
    ]


def test_a_dotted_operator_is_not_found_in_a_name_nobody_explained(load_entries: LoadEntries) -> None:
    entry = "- names: [test_op]\n  edits: {ops: {exclude: [{name: linalg.norm}, {name: add}]}}"
    tests = [
        op_test("test_op", op, "float16", told=False) for op in ("linalg.norm", "nn.functional.gelu", "add", "div")
    ]
    assert [rule for _, rule in expected(load_entries(entry, OPS), *tests)] == [
        "listed",
        "listed",
        "op_excluded",
        "force_xfail_op",
    ]


@pytest.mark.parametrize(
    ("tier", "rule"),
    [
        ("", "listed"),
        ("unit", "listed"),
        ("smoke", "label_mismatch"),
        ("suite_x", "listed"),
        ("full", "label_mismatch"),
    ],
)
def test_labels_of_an_entry_are_compared_with_the_tier(load_entries: LoadEntries, tier: str, rule: str) -> None:
    manifests = load_entries("- names: [test_a]\n  labels: [unit, nightly]", unlisted="mandatory_success")
    tests = [collected("test_a", "_spyre"), collected("test_b", "_spyre")]
    assert [found for _, found in expected(manifests, *tests, tier=tier)] == [rule, "unlisted"]


def test_a_removal_comes_before_any_mode(load_entries: LoadEntries) -> None:
    manifests = load_entries(
        """
        - names: [test_a]
          mode: skip
          labels: [unit]
          edits: {dtypes: {exclude: [{name: float64}]}, ops: {exclude: [{name: add}]}}
        """,
        CEILING,
    )
    test = op_test("test_a", "add", "float64")
    assert expected(manifests, test, tier="smoke") == [("skip", "label_mismatch")]
    assert expected(manifests, test) == [("skip", "dtype_excluded")]
    assert expected(manifests, op_test("test_a", "add", "int8")) == [("skip", "dtype_unsupported")]
    assert expected(manifests, op_test("test_a", "add", "float16")) == [("skip", "op_excluded")]
