"""Both profiles make the framework's checks in its order; they differ in what they take a test for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from selector.manifests import NOT_IN_MANIFESTS, ManifestSet, Profile, resolve, trace
from selector.manifests.decision import NOT_GOVERNED
from selector.manifests.rules import Tolerance
from selector.types import CollectedTest, Mode

LoadEntries = Callable[..., ManifestSet]
FILE = "test/test_things.py"
COMPAT, STRICT = Profile.COMPAT, Profile.STRICT
BOTH = pytest.mark.parametrize("profile", list(Profile))


def collected(base: str, suffix: str = "", op: str | None = None, dtype: str | None = None) -> CollectedTest:
    method = f"{base}{suffix}"
    return CollectedTest(f"{FILE}::TestThingsSPYRE::{method}", FILE, "TestThings", base, method, op, dtype)


def expected(
    manifests: ManifestSet, *tests: CollectedTest, profile: Profile = COMPAT, tier: str = ""
) -> list[tuple[str, str]]:
    table = resolve(manifests, tests, profile=profile, device="spyre", test_type=tier)
    assert [row.id for row in table.rows] == [test.id for test in tests]
    return [(row.mode.value, row.rule) for row in table.rows]


@BOTH
def test_listed_tests_get_their_mode_and_the_rest_the_unlisted_one(load_entries: LoadEntries, profile: Profile) -> None:
    manifests = load_entries(
        """
        - names: [TestThings::test_a]
          tags: [slow, nightly]
        - names: [test_b]
          mode: xfail_strict
        - names: [test_c]
          mode: skip
          tags: [never_seen]
        """,
        unlisted="xfail",
    )
    tests = [collected(base, "_spyre") for base in ("test_a", "test_b", "test_c", "test_d")]
    rows = resolve(manifests, tests, profile=profile, device="spyre").rows
    assert [(row.mode, row.rule, row.entry, row.provenance, row.tags) for row in rows] == [
        (Mode.MANDATORY_SUCCESS, "listed", 0, "m.yaml:7", ("slow", "nightly")),
        (Mode.XFAIL_STRICT, "listed", 1, "m.yaml:9", ()),
        (Mode.SKIP, "listed", 2, "m.yaml:11", ()),
        (Mode.XFAIL, "unlisted", None, "m.yaml:4", ()),
    ]


@BOTH
def test_a_generated_name_in_a_manifest_matches_nothing(load_entries: LoadEntries, profile: Profile) -> None:
    manifests = load_entries("- names: [test_a_spyre_float32]")
    test = collected("test_a", "_spyre_float32", dtype="float32")
    assert expected(manifests, test, profile=profile) == [("skip", "unlisted")]


@BOTH
def test_a_test_of_a_file_in_no_manifest_is_not_run_and_says_so(load_entries: LoadEntries, profile: Profile) -> None:
    other = CollectedTest("test/test_o.py::TSPYRE::test_a_spyre", "test/test_o.py", "T", "test_a", "test_a_spyre")
    (row,) = resolve(load_entries("[]"), [other], profile=profile, device="spyre").rows
    assert (row.mode, row.rule, row.provenance) == (Mode.SKIP, NOT_IN_MANIFESTS, "")


def test_the_framework_is_not_asked_about_functions_and_the_strict_profile_is(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_alone]\n  mode: xfail")
    alone = CollectedTest(f"{FILE}::test_alone", FILE, "", "test_alone", "test_alone")
    assert expected(manifests, alone) == [("mandatory_success", NOT_GOVERNED)]
    assert expected(manifests, alone, profile=STRICT) == [("xfail", "listed")]


CLASSES = """
- names: [TestPaint::test_mix]
  mode: xfail
- names: [TestPlaster::test_mix]
  mode: skip
- names: [TestNowhere::test_dry]
- names: ['TestPl.*::test_scrape']
- names: [test_sweep]
  mode: xfail_strict
"""


@pytest.mark.parametrize(
    ("cls", "base", "compat", "strict"),
    [
        ("TestPaint", "test_mix", ("xfail", 0), ("xfail", 0)),
        ("TestPlaster", "test_mix", ("xfail", 0), ("skip", 1)),
        ("TestPaint", "test_dry", ("mandatory_success", 2), ("skip", None)),
        ("TestPlaster", "test_scrape", ("mandatory_success", 3), ("mandatory_success", 3)),
        ("TestPaint", "test_scrape", ("mandatory_success", 3), ("skip", None)),
        ("TestPaint", "test_sweep", ("xfail_strict", 4), ("xfail_strict", 4)),
        ("TestPlaster", "test_sweep", ("xfail_strict", 4), ("xfail_strict", 4)),
    ],
)
def test_only_the_strict_profile_looks_at_classes(
    load_entries: LoadEntries, cls: str, base: str, compat: tuple[str, int], strict: tuple[str, int]
) -> None:
    test = CollectedTest(f"{FILE}::{cls}SPYRE::{base}_spyre", FILE, cls, base, f"{base}_spyre")
    for profile, wanted in ((COMPAT, compat), (STRICT, strict)):
        (row,) = resolve(load_entries(CLASSES), [test], profile=profile, device="spyre").rows
        assert (row.mode, row.entry) == wanted


CEILING = "supported_dtypes: [{name: float16}, {name: float32, force_xfail: true}]"


@BOTH
def test_dtypes_are_excluded_bounded_lifted_and_forced(load_entries: LoadEntries, profile: Profile) -> None:
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
    told = profile is STRICT
    tests = [collected(base, f"_spyre_{dtype}", dtype=dtype if told else None) for base, dtype, _, _ in cases]
    assert expected(manifests, *tests, profile=profile) == [(mode, rule) for _, _, mode, rule in cases]


@pytest.mark.parametrize(
    ("base", "suffix", "dtype", "compat", "strict"),
    [
        ("test_int8_pack", "_spyre", None, "dtype_unsupported", "listed"),
        ("test_int8_pack", "_spyre_float16", "float16", "listed", "listed"),
        ("test_cast", "_spyre_float16_float64", "float16_float64", "listed", "dtype_unsupported"),
        ("test_cast", "_spyre_float8_e4m3fn", "float8_e4m3fn", "listed", "dtype_unsupported"),
        ("test_cast", "_spyre_x1", "int8", "listed", "dtype_unsupported"),
    ],
)
def test_the_strict_profile_believes_what_was_told_and_the_other_one_the_name(
    *, load_entries: LoadEntries, base: str, suffix: str, dtype: str | None, compat: str, strict: str
) -> None:
    manifests = load_entries("- names: [test_int8_pack, test_cast]", CEILING)
    test = collected(base, suffix, dtype=dtype)
    assert [expected(manifests, test, profile=profile)[0][1] for profile in Profile] == [compat, strict]


def test_half_is_another_word_for_float16_where_the_dtype_was_told(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: [test_a]", "supported_dtypes: [{name: half}]")
    test = collected("test_a", "_spyre_float16", dtype="float16")
    assert [expected(manifests, test, profile=profile)[0][1] for profile in Profile] == ["dtype_unsupported", "listed"]


@BOTH
def test_without_a_ceiling_every_dtype_runs(load_entries: LoadEntries, profile: Profile) -> None:
    manifests = load_entries("- names: [test_a]")
    test = collected("test_a", "_spyre_complex128", dtype="complex128")
    assert expected(manifests, test, profile=profile) == [("mandatory_success", "listed")]


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


@BOTH
@pytest.mark.parametrize(
    ("dtype", "supported", "line", "why"),
    [
        ("bfloat16", "", 7, "the first of 3 whose dtypes hold bfloat16"),
        ("int8", "", 12, "the first of 3 whose dtypes hold int8"),
        ("float32", "", 10, "the first of 3 that takes every dtype"),
        (None, "", 10, "the first of 3 that takes every dtype"),
        ("float16", CEILING, 10, "the first of 3 whose dtypes hold float16"),
        ("float64", CEILING, 7, "the first of 3, as the dtypes of none of them hold float64"),
        (None, CEILING, 7, "the first of 3, for want of a dtype"),
    ],
)
def test_of_several_entries_the_dtype_chooses(
    *, load_entries: LoadEntries, dtype: str | None, supported: str, line: int, why: str, profile: Profile
) -> None:
    test = collected("test_a", f"_spyre_{dtype}" if dtype else "_spyre", dtype=dtype)
    found = trace(load_entries(SEVERAL, supported), test, profile=profile, device="spyre")
    assert (found.resolution.provenance, found.why_chosen) == (f"m.yaml:{line}", why)
    assert found.chosen is not None
    assert found.chosen.provenance == f"m.yaml:{line}"


def test_tags_of_an_entry_that_another_one_hides_are_lost(load_entries: LoadEntries) -> None:
    manifests = load_entries("- names: ['test_w.*']\n  tags: [slow]\n- names: [test_wipe]\n  mode: xfail")
    rows = resolve(manifests, [collected("test_wipe"), collected("test_wash")], profile=COMPAT, device="spyre").rows
    assert [(row.entry, row.tags) for row in rows] == [(1, ()), (0, ("slow",))]


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
        collected("test_op", "_div_case_spyre"),
    ]
    rows = resolve(manifests, tests, profile=COMPAT, device="spyre").rows
    assert [(row.mode.value, row.rule, row.entry, row.provenance) for row in rows] == [
        ("mandatory_success", "listed", 0, "m.yaml:7"),
        ("mandatory_success", "listed", 0, "m.yaml:7"),
        ("skip", "op_dtype_narrowed", None, "m.yaml:11"),
        ("xfail", "force_xfail_op", 0, "m.yaml:7"),
        ("skip", "op_not_supported", None, "m.yaml:10"),
        ("mandatory_success", "listed", 0, "m.yaml:7"),
        ("mandatory_success", "listed", 0, "m.yaml:7"),
    ]
    strict = expected(manifests, *tests, profile=STRICT)
    assert strict[5] == ("xfail", "force_xfail_op")
    assert strict[:5] == [(row.mode.value, row.rule) for row in rows[:5]]


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
        "listed",
        "listed",
    ]
    assert [rule for _, rule in expected(manifests, *tests, profile=STRICT)] == [
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


@BOTH
def test_a_trace_tells_each_check_up_to_the_one_that_decided(load_entries: LoadEntries, profile: Profile) -> None:
    entry = "- names: [TestThings::test_a]\n  labels: [unit]\n  edits: {dtypes: {exclude: [{name: float16}]}}"
    test = collected("test_a", "_spyre_float16", dtype="float16")
    found = trace(load_entries(entry, CEILING), test, profile=profile, device="spyre", test_type="unit")
    assert [(check.name, check.value, check.hit) for check in found.checks] == [
        ("label_mismatch", "test type unit, labels unit", False),
        ("dtype_excluded", "dtype float16, excluded float16", True),
    ]
    assert (found.op, found.dtype, found.resolution.rule) == ("", "float16", "dtype_excluded")


def test_a_trace_says_which_names_fit_and_why_they_do_not_count(load_entries: LoadEntries) -> None:
    entries = (
        "- names: [TestOther::test_a]\n- names: [test_a]\n  platforms: [ppc64]\n- names: ['test_.']\n  mode: xfail"
    )
    test = collected("test_a", "_spyre")
    found = trace(load_entries(entries), test, profile=STRICT, device="spyre", platform="x86_64")
    assert [(one.name, one.entry, one.left_out) for one in found.candidates] == [
        ("TestOther::test_a", 0, "it is for another class than TestThings"),
        ("test_a", 1, "it is for ppc64, not for x86_64"),
        ("test_.", 2, ""),
    ]
    assert found.chosen == found.candidates[2]
    assert found.why_chosen == "the only entry that lists it, whatever its dtypes"


def test_a_trace_of_what_no_manifest_rules_says_so(load_entries: LoadEntries) -> None:
    manifests = load_entries("[]")
    alone = CollectedTest(f"{FILE}::test_alone", FILE, "", "test_alone", "test_alone")
    elsewhere = CollectedTest("test/o.py::T::test_a", "test/o.py", "T", "test_a", "test_a")
    unlisted = collected("test_b")
    whys = [trace(manifests, test, profile=COMPAT, device="spyre").why_chosen for test in (alone, elsewhere, unlisted)]
    assert whys == [
        "the framework asks manifests about methods of test classes only, and this is a function",
        "no manifest lists its file",
        "no entry lists it",
    ]


TOLERANT = """
supported_dtypes: [{name: float32, precision: {atol: 0.5}}, {name: float16, precision: {rtol: 0.25}}, {name: int8}]
supported_ops: [{name: add, dtypes: [{name: int8, precision: {atol: 3, rtol: 4}}, {name: int16}]}]
"""


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [("float32", Tolerance(0.125, None)), ("float16", Tolerance(0.0, 0.25)), ("int8", Tolerance(3, 4))],
)
def test_tolerances_come_from_the_entry_then_the_device_then_the_operator(
    load_entries: LoadEntries, dtype: str, tolerance: Tolerance
) -> None:
    manifests = load_entries(
        """
        - names: [test_a]
          edits: {dtypes: {include: [{name: float32, precision: {atol: 2}}, {name: float16}]}}
        - names: ['test_.*']
          edits: {dtypes: {include: [{name: float32, precision: {atol: 0.125}}]}}
        """,
        TOLERANT,
    )
    (row,) = resolve(manifests, [op_test("test_a", "add", dtype)], profile=STRICT, device="spyre").rows
    assert row.tolerance == tolerance


def test_the_digest_is_of_what_is_said_and_not_of_where(load_entries: LoadEntries) -> None:
    tests = [collected("test_a", "_spyre"), collected("test_b", "_spyre")]

    def digest(entries: str, tests: Sequence[CollectedTest] = tests) -> str:
        return resolve(load_entries(entries), tests, profile=COMPAT, device="spyre").digest

    plain = digest("- names: [test_a, test_b]\n  tags: [x]")
    assert digest("- names: [nothing]\n- names: ['test_[ab]']\n  tags: [x]") == plain
    assert digest("- names: [test_a, test_b]\n  tags: [x]", tests[::-1]) == plain
    assert digest("- names: [test_a, test_b]") != plain
    assert digest("- names: [test_a, test_b]\n  tags: [x]\n  mode: xfail") != plain
    assert digest("- names: [test_a, test_b]\n  tags: [x]\n  reason: it is slow") != plain
    assert digest("- names: [test_a, test_b]\n  tags: [x]", tests[:1]) != plain
