"""Each way in which a manifest surprises its author is told in the sentence that a maintainer needs, word for word.

The traps are those of `oot-manifests.md` section 2; every sentence names the line to look at.
"""

from __future__ import annotations

import pytest

from selector.manifests.explaining.explain import Explanation, explain
from selector.manifests.explaining.trap_case import TrapKind
from selector.types import CollectedTest
from tests.selector.manifests.conftest import LoadEntries

FILE = "test/test_things.py"


def a_test(
    method: str, base: str, cls: str = "TestThings", *, op: str | None = None, dtype: str | None = None
) -> CollectedTest:
    owner = f"{cls}PRIVATEUSE1::" if cls else ""
    return CollectedTest(f"{FILE}::{owner}{method}", FILE, cls, base, method, op, dtype)


ADD = a_test("test_add_acme_float32", "test_add", dtype="float32")


class ExplainOne:
    """Explains a test by a manifest that is given by its entries."""

    def __init__(self, load: LoadEntries) -> None:
        self._load = load

    def __call__(
        self, test: CollectedTest, entries: str, supported: str = "", unlisted: str = "skip", test_type: str = ""
    ) -> Explanation:
        manifests = self._load(entries, supported, unlisted)
        return explain(manifests, test, device="acme", test_type=test_type, tests=[test])


@pytest.fixture
def explained(load_entries: LoadEntries) -> ExplainOne:
    return ExplainOne(load_entries)


def told(explanation: Explanation, kind: TrapKind) -> str:
    """The sentence of the only trap of a kind."""
    (trap,) = [trap for trap in explanation.traps if trap.kind is kind]
    assert trap.provenance in trap.sentence or kind in {TrapKind.DTYPE_FROM_NAME, TrapKind.FLOAT8_INVISIBLE}
    return trap.sentence


def kinds(explanation: Explanation) -> list[TrapKind]:
    return [trap.kind for trap in explanation.traps]


def test_a_plainly_listed_test_is_in_no_trap(explained: ExplainOne) -> None:
    """No noise where nothing surprises."""
    found = explained(ADD, "- names: [TestThings::test_add]", "supported_dtypes: [{name: float32}]")
    assert found.traps == ()
    assert found.meant == ""


def test_the_class_half_is_ignored(explained: ExplainOne) -> None:
    """The entry of one class decides about the method of another."""
    found = explained(ADD, "- names: [TestOther::test_add]\n  mode: xfail")
    assert told(found, TrapKind.CLASS_IGNORED) == (
        "`TestOther::test_add` (m.yaml:7) decides about `TestThings::test_add`: the class half of a name is not "
        "compared, so an entry takes `test_add` of every class in the file."
    )
    assert found.meant == (
        "Probably the name was for its own class only: `skip` (unlisted, m.yaml:4) then, instead of `xfail` (listed, "
        "m.yaml:7)."
    )


def test_the_first_match_hides_a_later_entry(explained: ExplainOne) -> None:
    """Its mode and its tags are lost."""
    found = explained(ADD, "- names: [test_add]\n- names: [TestThings::test_add]\n  mode: xfail\n  tags: [slow]")
    assert told(found, TrapKind.HIDDEN_ENTRY) == (
        "`TestThings::test_add` (m.yaml:8, xfail) is hidden here by m.yaml:7 (mandatory_success): one entry decides "
        "for each variant, and the mode, tags and labels of the others do not count. Only different "
        "`dtypes.include` tell two entries for one method apart."
    )


def test_an_entry_that_would_change_nothing_is_not_told(explained: ExplainOne) -> None:
    """Hidden, but harmless."""
    assert explained(ADD, "- names: [test_add]\n- names: [test_.*]").traps == ()


def test_entries_for_different_dtypes_do_not_hide_each_other(explained: ExplainOne) -> None:
    """That is how two entries for one method are meant to be written."""
    entries = "- names: [test_add]\n- names: [test_add]\n  mode: skip\n  edits: {dtypes: {include: [{name: float64}]}}"
    assert explained(ADD, entries, "supported_dtypes: [{name: float32}]").traps == ()


def test_a_pattern_is_captured_by_an_exact_entry(explained: ExplainOne) -> None:
    """Although the pattern stands first in the file."""
    found = explained(ADD, "- names: [test_a.*]\n  mode: skip\n- names: [test_add]")
    assert told(found, TrapKind.EXACT_BEFORE_PATTERN) == (
        "The pattern `test_a.*` (m.yaml:7, skip) fits as well, but an exact name comes before every pattern, wherever "
        "it stands: m.yaml:9 decides, and neither the mode nor the tags of the pattern count."
    )


def test_a_generated_name_never_matches(explained: ExplainOne) -> None:
    """The author copied an id out of a report, here of another device."""
    found = explained(ADD, "- names: [TestThings::test_add_cuda_float32]\n  mode: xfail")
    assert told(found, TrapKind.GENERATED_NAME) == (
        "`TestThings::test_add_cuda_float32` (m.yaml:7) never matches: names are compared with the method in the "
        "source, `test_add`, before variants are generated from it. Write `TestThings::test_add`, and narrow it by "
        "`edits.dtypes` and `edits.ops`."
    )


def test_another_base_test_with_the_same_start_is_no_generated_name(explained: ExplainOne) -> None:
    """`test_add_inplace` is a test of its own."""
    assert kinds(explained(ADD, "- names: [test_add]\n- names: [test_add_inplace]\n  mode: xfail")) == []


def test_a_pattern_that_looks_like_a_glob(explained: ExplainOne) -> None:
    """`test_a*` means any number of a's."""
    found = explained(ADD, "- names: [TestThings::test_a*]")
    assert told(found, TrapKind.GLOB_PATTERN) == (
        "`TestThings::test_a*` (m.yaml:7) looks like a glob, but patterns are regular expressions and have to match "
        "the whole name: it does not match `test_add`. Write `test_a.*`."
    )


def test_the_dtype_is_read_from_the_name(explained: ExplainOne) -> None:
    """With two dtypes the longer word wins, whichever the test is about."""
    test = a_test("test_cast_acme_float16_bfloat16", "test_cast", dtype="float16")
    found = explained(test, "- names: [test_cast]", "supported_dtypes: [{name: float16}]")
    assert told(found, TrapKind.DTYPE_FROM_NAME) == (
        "The dtype is read out of the method name, the longest known word first: `test_cast_acme_float16_bfloat16` is "
        "taken for `bfloat16`, while it was generated for `float16`. Ceiling, `dtypes.include`, `dtypes.exclude` and "
        "`force_xfail` see only `bfloat16`."
    )
    assert found.meant == (
        "Probably the dtype that the test is generated for was to count, not a word in its name: `mandatory_success` "
        "(listed, m.yaml:7) then, instead of `skip` (dtype_unsupported, m.yaml:7)."
    )


def test_of_two_told_dtypes_one_is_seen(explained: ExplainOne) -> None:
    """The generator joins them; the reader takes one."""
    test = a_test("test_cast_acme_float64_int8", "test_cast", dtype="float64_int8")
    found = explained(test, "- names: [test_cast]")
    assert "is taken for `float64`, while it was generated for `float64` and `int8`." in told(
        found, TrapKind.DTYPE_FROM_NAME
    )


def test_a_dtype_word_in_the_base_name_counts_as_dtype(explained: ExplainOne) -> None:
    """`test_int8_pack` has no dtype, and is filtered as if it had."""
    test = a_test("test_int8_pack_acme", "test_int8_pack")
    found = explained(test, "- names: [test_int8_pack]", "supported_dtypes: [{name: float32}]")
    assert told(found, TrapKind.DTYPE_FROM_NAME) == (
        "The dtype is read out of the method name, the longest known word first: `test_int8_pack_acme` is taken for "
        "`int8`, while it stands in the base name `test_int8_pack`. Ceiling, `dtypes.include`, `dtypes.exclude` and "
        "`force_xfail` see only `int8`."
    )


def test_float8_is_invisible(explained: ExplainOne) -> None:
    """It passes a ceiling that does not have it."""
    test = a_test("test_cast_acme_float8_e4m3fn", "test_cast", dtype="float8_e4m3fn")
    found = explained(test, "- names: [test_cast]", "supported_dtypes: [{name: float32}]")
    assert told(found, TrapKind.FLOAT8_INVISIBLE) == (
        "`test_cast_acme_float8_e4m3fn` is for a float8 dtype, which is not in the manifest's vocabulary: no dtype is "
        "seen, so the ceiling of `supported_dtypes` does not hold it back. Skip it by its name, or let the strict "
        "profile decide."
    )
    assert found.meant == (
        "Probably the ceiling was to hold for float8 dtypes too: `skip` (dtype_unsupported, m.yaml:7) then, instead "
        "of `mandatory_success` (listed, m.yaml:7)."
    )


GELU = a_test("test_grad_nn_functional_gelu_acme_float32", "test_grad", op="nn.functional.gelu", dtype="float32")


def test_a_dotted_operator_is_never_excluded(explained: ExplainOne) -> None:
    """Names of methods have no dots."""
    found = explained(GELU, "- names: [test_grad]\n  edits: {ops: {exclude: [{name: nn.functional.gelu}]}}")
    assert told(found, TrapKind.DOTTED_OPERATOR) == (
        "`nn.functional.gelu` in `ops.exclude` (m.yaml:7) never matches: a generated name has underscores for dots, "
        "so the operator is read as `nn_functional_gelu`. Write `nn_functional_gelu`."
    )
    assert found.meant == (
        "Probably the operator was to be taken by the name that upstream gives it: `skip` (op_excluded, m.yaml:7) "
        "then, instead of `mandatory_success` (listed, m.yaml:7)."
    )


def test_a_dotted_operator_is_never_forced_to_fail(explained: ExplainOne) -> None:
    """Here no spelling helps: the allow-list needs the dots."""
    supported = "supported_ops:\n  - name: nn.functional.gelu\n    force_xfail: true"
    found = explained(GELU, "- names: [test_grad]", supported)
    assert told(found, TrapKind.DOTTED_OPERATOR) == (
        "`force_xfail` of `nn.functional.gelu` (m.yaml:10) never takes effect: a generated name has underscores for "
        "dots, so the operator is read as `nn_functional_gelu`. List the test with mode `xfail` instead."
    )


def test_an_excluded_operator_takes_longer_names_with_it(explained: ExplainOne) -> None:
    """`add` excludes `add_decomposed`."""
    test = a_test("test_grad_add_decomposed_acme_float32", "test_grad", op="add_decomposed", dtype="float32")
    found = explained(test, "- names: [test_grad]\n  edits: {ops: {exclude: [{name: add}]}}")
    assert told(found, TrapKind.EXCLUDED_BY_PREFIX) == (
        "`add` in `ops.exclude` (m.yaml:7) takes `add_decomposed` with it: an excluded operator takes everything that "
        "starts with `add_`, while `force_xfail` is for the exact name only."
    )


def test_an_empty_allow_list_means_everything(explained: ExplainOne) -> None:
    """The opposite of what it looks like."""
    found = explained(GELU, "- names: [test_grad]", "supported_ops: []")
    assert told(found, TrapKind.ALLOW_LIST_NOT_APPLIED) == (
        "`supported_ops` (m.yaml:9) is an empty list, which allows every operator and not none: a filter that would "
        "leave nothing is not applied. Leave the key out, or list the operators."
    )


def test_an_allow_list_that_would_leave_nothing_is_not_applied(explained: ExplainOne) -> None:
    """A test over other operators runs in full."""
    found = explained(GELU, "- names: [test_grad]", "supported_ops: [add]")
    assert told(found, TrapKind.ALLOW_LIST_NOT_APPLIED) == (
        "`nn.functional.gelu` is not in `supported_ops` (m.yaml:9) and runs all the same: none of the operators of "
        "`test_grad` is, and a filter that would leave nothing is not applied. Skip the test by its name."
    )


def test_a_label_that_does_not_match_takes_the_test_away(explained: ExplainOne) -> None:
    """And hides the entry whose label would."""
    entries = "- names: [test_add]\n  labels: [unit, smoke]\n- names: [TestThings::test_add]\n  labels: [trunk]"
    found = explained(ADD, entries, test_type="trunk")
    assert told(found, TrapKind.LABEL_MISMATCH) == (
        "The test is taken away because the labels of m.yaml:7 (smoke, unit) do not hold the test type `trunk`. "
        "Labels only filter; they play no part in choosing the entry, so another entry with the right label does not "
        "step in."
    )
    assert kinds(found) == [TrapKind.HIDDEN_ENTRY, TrapKind.LABEL_MISMATCH]


def test_the_default_for_unlisted_tests_is_xfail(explained: ExplainOne) -> None:
    """Not skip, as the format's first description has it."""
    found = explained(ADD, "- names: [test_sub]", unlisted="xfail")
    assert told(found, TrapKind.UNLISTED) == (
        "No entry lists `test_add`, so the `unlisted_test_mode` of the file holds: `xfail` (m.yaml:4). A block without "
        "that key has `xfail`: its unlisted tests run and are expected to fail."
    )


@pytest.mark.parametrize(
    ("supported", "what"),
    [
        ("supported_dtypes: [{name: float32, force_xfail: true}]", "dtype `float32`"),
        ("supported_ops: [{name: mul, force_xfail: true}]", "operator `mul`"),
    ],
)
def test_force_xfail_does_not_weaken_a_strict_mode(explained: ExplainOne, supported: str, what: str) -> None:
    """It is for `mandatory_success` alone."""
    test = a_test("test_add_mul_acme_float32", "test_add", op="mul", dtype="float32")
    found = explained(test, "- names: [test_add]\n  mode: xfail_strict", supported)
    assert told(found, TrapKind.FORCE_XFAIL_WITHOUT_EFFECT) == (
        f"`force_xfail` of the {what} changes nothing here: it weakens `mandatory_success` only, and m.yaml:7 says "
        "`xfail_strict`."
    )


def test_a_function_is_not_governed(explained: ExplainOne) -> None:
    """The framework's hook sits in test classes."""
    test = a_test("test_free", "test_free", cls="")
    found = explained(test, "- names: [test_free]\n  mode: skip")
    assert told(found, TrapKind.FUNCTION_NOT_GOVERNED) == (
        "`test_free` is a function and not a method of a test class, so the framework never asks the manifest about "
        "it: it runs and must pass, whatever m.yaml:4 lists."
    )
    assert found.meant == (
        "Probably the file block was to hold for its functions as well: `skip` (listed, m.yaml:7) then, instead of "
        "`mandatory_success` (not_governed, m.yaml:4)."
    )
