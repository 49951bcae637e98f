"""A test is found, traced in both readings, and a wrong id is answered with what may have been meant."""

from __future__ import annotations

import pytest

from selector.manifests.authoring.results import names_in
from selector.manifests.explaining.explain import UnknownTestError, explain, find_test, guess_test
from selector.manifests.explaining.trap_case import TrapKind
from selector.types import CollectedTest, Mode
from tests.selector.manifests.conftest import LoadEntries
from tests.selector.upstream import MemoryTree

FILE = "test/test_things.py"


def collected(method: str, base: str, op: str | None = None, dtype: str | None = None) -> CollectedTest:
    return CollectedTest(f"{FILE}::TestThingsPRIVATEUSE1::{method}", FILE, "TestThings", base, method, op, dtype)


UNIVERSE = (
    collected("test_add_acme_float32", "test_add", dtype="float32"),
    collected("test_add_acme_float64", "test_add", dtype="float64"),
    collected("test_sub_acme", "test_sub"),
)


def test_a_test_is_found_by_its_id() -> None:
    """As it was collected."""
    assert find_test(UNIVERSE[1].id, UNIVERSE) is UNIVERSE[1]


def test_a_base_test_with_one_variant_is_that_variant() -> None:
    """What stands in the manifest is enough."""
    assert find_test(f"{FILE}::TestThings::test_sub", UNIVERSE) is UNIVERSE[2]


def test_a_base_test_with_several_variants_offers_them() -> None:
    """They may have different expectations."""
    with pytest.raises(UnknownTestError, match="is a base test with 2 variants; explain one of them") as caught:
        find_test(f"{FILE}::TestThings::test_add", UNIVERSE)
    assert caught.value.near == (UNIVERSE[0].id, UNIVERSE[1].id)


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        (f"{FILE}::TestThingsPRIVATEUSE1::test_add_acme_float23", UNIVERSE[0].id),
        (f"{FILE}::TestThingPRIVATEUSE1::test_sub_acme", UNIVERSE[2].id),
        ("test/test_thing.py::TestThingsPRIVATEUSE1::test_sub_acme", FILE),
    ],
)
def test_an_unknown_id_is_answered_with_near_ones(wrong: str, near: str) -> None:
    """Of the same file, or the nearest file."""
    with pytest.raises(UnknownTestError, match="no collected test has the id") as caught:
        find_test(wrong, UNIVERSE)
    assert caught.value.near[0] == near


def test_nothing_near_is_nothing_offered() -> None:
    """No wild guesses."""
    with pytest.raises(UnknownTestError) as caught:
        find_test("somewhere/else.py::test_x", UNIVERSE)
    assert caught.value.near == ()


def test_the_base_of_a_bare_id_is_the_longest_listed_name(load_entries: LoadEntries) -> None:
    """`test_grad_nn_functional_gelu` could be a base name, but `test_grad` is listed."""
    manifests = load_entries("- names: [test, test_grad]", "supported_ops: [nn.functional.gelu]")
    test = guess_test(f"{FILE}::TestThingsACME::test_grad_nn_functional_gelu_acme_float32", manifests, "acme")
    assert (test.cls, test.base, test.op, test.dtype) == ("TestThings", "test_grad", "nn.functional.gelu", "float32")


def test_without_a_listed_base_the_name_up_to_the_device_is_taken(load_entries: LoadEntries) -> None:
    """A parameter stays in it; whoever needs more collects."""
    test = guess_test(f"{FILE}::TestThingsACME::test_new_param_1_acme", load_entries("- names: [test_add]"), "acme")
    assert (test.base, test.op, test.dtype) == ("test_new_param_1", None, None)


def test_with_the_source_at_hand_a_listed_variant_is_no_base(load_entries: LoadEntries) -> None:
    """`test_grad_add` is listed and is no test: the trap is told instead of explaining a test that there is not."""
    manifests = load_entries("- names: [test_grad_add]\n  mode: xfail")
    tree = MemoryTree({FILE: "class TestThings:\n    def test_grad(self): ...\n"})
    test = guess_test(f"{FILE}::TestThingsACME::test_grad_add_acme_float32", manifests, "acme", names_in(tree))
    assert (test.base, test.dtype) == ("test_grad", "float32")
    assert [trap.kind for trap in explain(manifests, test, device="acme").traps] == [
        TrapKind.GENERATED_NAME,
        TrapKind.UNLISTED,
    ]


def test_what_is_no_id_is_refused(load_entries: LoadEntries) -> None:
    """With the form that an id has."""
    with pytest.raises(UnknownTestError, match="is no test id; write `file::Class::method`"):
        guess_test("test_add", load_entries("- names: [test_add]"), "acme")


def test_both_readings_are_traced(load_entries: LoadEntries) -> None:
    """Each with its candidates, its choice and its checks."""
    manifests = load_entries(
        "- names: [TestOther::test_add]\n  mode: skip\n- names: [TestThings::test_add]",
        "supported_dtypes: [{name: float32}]",
    )
    found = explain(manifests, UNIVERSE[0], device="acme", tests=UNIVERSE)
    assert (found.compat.resolution.mode, found.strict.resolution.mode) == (Mode.SKIP, Mode.MANDATORY_SUCCESS)
    assert found.compat.chosen is not None
    assert found.compat.chosen.name == "TestOther::test_add"
    assert [candidate.left_out for candidate in found.strict.candidates] == [
        "it is for another class than TestThings",
        "",
    ]
    assert [check.name for check in found.compat.checks] == ["dtype_unsupported", "listed"]
    assert found.guessed is False


def test_a_difference_without_a_named_trap_is_still_said(load_entries: LoadEntries) -> None:
    """An operator that only the name seems to have: a parameter, taken for one."""
    manifests = load_entries("- names: [test_grad]\n  edits: {ops: {exclude: [{name: add}]}}")
    found = explain(manifests, collected("test_grad_add_acme_float32", "test_grad", dtype="float32"), device="acme")
    assert found.meant == (
        "The strict profile takes what the generator told (dtype float32): `mandatory_success` (listed, m.yaml:7) "
        "then, instead of `skip` (op_excluded, m.yaml:7)."
    )


def test_where_modes_agree_the_tags_are_said(load_entries: LoadEntries) -> None:
    """They select what is run, so the readings differ in effect."""
    manifests = load_entries("- names: [TestOther::test_sub]\n  tags: [slow, big]\n- names: [TestThings::test_sub]")
    assert explain(manifests, UNIVERSE[2], device="acme").meant == (
        "Probably the name was for its own class only: `mandatory_success` (listed, m.yaml:9) with no tags and default "
        "tolerance then, instead of `mandatory_success` (listed, m.yaml:7) with the tags slow, big and default "
        "tolerance."
    )


def test_readings_that_come_to_the_same_leave_nothing_to_be_meant(load_entries: LoadEntries) -> None:
    """Another rule, the same run."""
    manifests = load_entries("- names: [TestOther::test_sub]\n  mode: skip")
    found = explain(manifests, UNIVERSE[2], device="acme")
    assert (found.compat.resolution.rule, found.strict.resolution.rule) == ("listed", "unlisted")
    assert found.meant == ""


def test_siblings_decide_whether_the_allow_list_holds(load_entries: LoadEntries) -> None:
    """With one variant on the list the others are not generated, and there is no trap to tell."""
    manifests = load_entries("- names: [test_grad]", "supported_ops: [add]")
    mul = collected("test_grad_mul_acme_float32", "test_grad", "mul", "float32")
    add = collected("test_grad_add_acme_float32", "test_grad", "add", "float32")
    found = explain(manifests, mul, device="acme", tests=[mul, add])
    assert found.compat.resolution.rule == "op_not_supported"
    assert found.traps == ()


def test_a_file_that_no_manifest_lists_is_said_with_a_near_one(load_entries: LoadEntries) -> None:
    """A path with a slip in it is the usual cause."""
    test = CollectedTest("test/test_thing.py::TestX::test_a", "test/test_thing.py", "TestX", "test_a", "test_a")
    found = explain(load_entries("- names: [test_add]"), test, device="acme")
    (trap,) = found.traps
    assert trap.kind is TrapKind.FILE_NOT_LISTED
    assert trap.sentence == (
        "No manifest lists test/test_thing.py (did you mean `test/test_things.py`?), so nothing of it is run."
    )
    assert found.meant == ""
