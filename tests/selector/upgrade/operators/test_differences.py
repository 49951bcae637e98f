from __future__ import annotations

from selector.upgrade.operators.differences import compare_tables
from selector.upgrade.operators.reading import read_operators
from selector.upgrade.types import OpInfoAspect, OpInfoChange, OpInfoDifference, TestChange
from tests.selector.upgrade.operators.operator_texts import DATABASE, FOLDER, library

ABS = 'OpInfo("abs", dtypes=floating_types())'


def entry(arguments: str, name: str = "addmm") -> str:
    return f'op_db = [OpInfo("{name}", sample_inputs_func=sample_inputs_addmm, {arguments})]'


def compared(before: str, after: str, replaced: tuple[str, str] = ("", "")) -> OpInfoDifference:
    """`replaced`: a text of the newer tree, and what stands there instead."""
    return compare_tables(read_operators(library(before)), read_operators(library(after, replaced=replaced)))


def the_one(difference: OpInfoDifference) -> OpInfoChange:
    (change,) = difference.changes
    return change


def test_entries_that_came_and_went_are_told_with_their_dtypes() -> None:
    found = compared(f"op_db = [{ABS}]", 'op_db = [OpInfo("qr", dtypes=floating_types_and(torch.half))]')
    gone, came = found.changes
    assert (gone.name, gone.change) == ("abs", TestChange.REMOVED)
    assert sorted(gone.dtypes_before) == ["float32", "float64"]
    assert (came.name, came.change, len(came.dtypes_after)) == ("qr", TestChange.ADDED, 3)
    assert came.evidence[0].head is not None
    assert (found.before, found.after) == (1, 1)


def test_the_same_database_written_otherwise_is_no_difference() -> None:
    """Comments, lines, aliases of dtypes, the words of a skip."""
    skips = 'skips=(DecorateInfo(unittest.skip("{}"), "TestCommon"),)'
    before = entry(f"dtypes=floating_types_and(torch.half), {skips.format('broken')}")
    after = entry(f"\n    # more\n    dtypes=floating_types_and(torch.float16), {skips.format('slow')}")
    assert compared(before, after).changes == ()


def test_dtypes_differ_by_what_is_worked_out() -> None:
    change = the_one(compared(entry("dtypes=floating_types()"), entry("dtypes=floating_types_and(torch.half)")))
    assert change.aspects == (OpInfoAspect.DTYPES,)
    assert change.evidence[0].text == "dtypes: +float16"
    assert change.dtypes_after - change.dtypes_before == {"float16"}


def test_a_skip_of_every_device_is_a_change_and_one_for_others_is_theirs() -> None:
    ours = 'DecorateInfo(unittest.expectedFailure, "TestCommon", "test_out")'
    theirs = 'DecorateInfo(unittest.expectedFailure, "TestCommon", "test_out", device_type="mps")'
    plain = entry("dtypes=floating_types()")
    change = the_one(compared(plain, entry(f"dtypes=floating_types(), skips=({ours},)")))
    assert change.aspects == (OpInfoAspect.DECORATORS,)
    assert change.evidence[0].text == "decorators: +expectedFailure of TestCommon.test_out"
    change = the_one(compared(entry(f"dtypes=floating_types(), skips=({theirs},)"), plain))
    assert change.aspects == (OpInfoAspect.ELSEWHERE,)
    assert change.evidence[0].text == "decorators: -expectedFailure of TestCommon.test_out on mps"


def test_a_skip_for_others_beside_a_change_is_not_told() -> None:
    theirs = 'skips=(DecorateInfo(unittest.expectedFailure, device_type="cuda"),)'
    change = the_one(
        compared(entry("dtypes=floating_types()"), entry(f"dtypes=floating_types_and(torch.half), {theirs}"))
    )
    assert change.aspects == (OpInfoAspect.DTYPES,)
    assert len(change.evidence) == 1


def test_a_function_that_makes_inputs_is_followed_to_what_it_uses() -> None:
    """The helper of the sample function changed; the entry's own text is the same."""
    same = entry("dtypes=floating_types()")
    change = the_one(compared(same, same, ("return (3, 4)", "return (3, 0)")))
    assert change.aspects == (OpInfoAspect.SAMPLES,)
    (evidence,) = change.evidence
    assert (evidence.kind, evidence.symbol) == (TestChange.HELPER, "sizes")
    assert evidence.chain == ("sample_inputs_func", "sample_inputs_addmm", "sizes")
    assert evidence.base is not None
    assert evidence.base.path == DATABASE


def test_another_sample_function_differs_and_another_reference_is_something_else() -> None:
    change = the_one(
        compared(
            entry("dtypes=floating_types()"),
            'op_db = [OpInfo("addmm", dtypes=floating_types(), sample_inputs_func=partial(sample_inputs_addmm, n=1))]',
        )
    )
    assert change.aspects == (OpInfoAspect.SAMPLES,)
    change = the_one(compared(entry("dtypes=floating_types()"), entry("dtypes=floating_types(), ref=lambda x: x")))
    assert change.aspects == (OpInfoAspect.OTHER,)
    assert change.evidence[0].text == "ref is another"


def test_a_plain_value_is_told_with_what_it_was() -> None:
    change = the_one(
        compared(entry("dtypes=floating_types()"), entry("dtypes=floating_types(), supports_autograd=False"))
    )
    assert OpInfoAspect.OTHER in change.aspects
    assert "supports_autograd: True, now False" in [evidence.text for evidence in change.evidence]


def test_a_new_argument_of_the_class_is_no_difference_of_its_entries() -> None:
    new = "    supports_autograd: bool = True\n"
    assert (
        compared(f"op_db = [{ABS}]", f"op_db = [{ABS}]", (new, f"{new}    supports_njt: bool = False\n")).changes == ()
    )


def test_a_sample_function_in_another_file_is_the_same_function() -> None:
    text = "def sample_inputs_far(op_info, device):\n    yield device\n"
    used = 'op_db = [OpInfo("far", dtypes=floating_types(), sample_inputs_func=sample_inputs_far)]'
    imported = "from torch.testing._internal.opinfo.far import sample_inputs_far\n"
    for moved, count in ((text, 0), (text.replace("yield device", "yield None"), 1)):
        after = library(imported + used, {f"{FOLDER}/opinfo/far.py": moved})
        assert len(compare_tables(read_operators(library(text + used)), read_operators(after)).changes) == count


def test_what_everybody_uses_is_told_once() -> None:
    one = 'OpInfo("op{}", dtypes=floating_types(), sample_inputs_func=sample_inputs_addmm)'
    many = ", ".join(one.format(number) for number in range(120))
    found = compared(f"op_db = [{many}]", f"op_db = [{many}]", ("return (3, 4)", "return (3, 0)"))
    assert found.changes == ()
    assert any(note.startswith("sizes of") and "120 entries" in note for note in found.notes)


def test_what_a_class_gives_to_everybody_is_told_once() -> None:
    many = ", ".join(f'OpInfo("op{number}", dtypes=floating_types())' for number in range(120))
    default = ("supports_autograd: bool = True", "supports_autograd: bool = False")
    found = compared(f"op_db = [{many}]", f"op_db = [{many}]", default)
    assert {change.aspects for change in found.changes} == {(OpInfoAspect.DTYPES,)}
    assert any(note.startswith("supports_autograd: True, now False; as 120 entries") for note in found.notes)


def test_what_neither_text_tells_is_told_once() -> None:
    odd, even = (f"from elsewhere import x\nfor y in x:\n    {name} = y\nop_db = [{ABS}]" for name in ("odd", "even"))
    same, other = compared(odd, even), compared(odd, f"\n{odd}")
    assert [note.split(":")[0] for note in same.notes] == [DATABASE]
    assert [note.split(":")[0] for note in other.notes] == ["before", "after"]
