from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from selector.upgrade.operators.reading import read_operators
from selector.upgrade.types import Place
from tests.selector.upgrade.operators.operator_texts import DATABASE, FOLDER, library
from tests.selector.upstream import MemoryTree

ADDMM = 'OpInfo("addmm", dtypes=floating_types_and(torch.half), sample_inputs_func=sample_inputs_addmm)'


class Kept:
    """A cache in memory."""

    def __init__(self) -> None:
        self.records: dict[str, bytes] = {}

    def load(self, parser: str, wanted: Collection[str]) -> Mapping[str, bytes]:
        return {key: self.records[key] for key in wanted if key in self.records}

    def keep(self, parser: str, used: Iterable[str], fresh: Mapping[str, bytes]) -> None:
        self.records |= fresh


def test_dtypes_are_worked_out_of_the_functions_that_give_them() -> None:
    entry = read_operators(library(f"op_db = [{ADDMM}]")).entries["addmm"]
    assert entry.dtypes == entry.backward_dtypes == frozenset({"float16", "float32", "float64"})


def test_what_a_class_gives_its_entries_counts_as_theirs() -> None:
    """Default dtypes and inputs, and the skip that the class adds to each entry's own."""
    entry = read_operators(library('op_db = [UnaryUfuncInfo("abs", skips=(DecorateInfo(onlyCUDA),))]')).entries["abs"]
    assert entry.kind == "UnaryUfuncInfo"
    assert entry.dtypes == frozenset({"float32", "float64"})
    assert [one.text for one in entry.decorators] == ["onlyCUDA", "skip of TestCommon.test_numpy_refs"]
    assert f"{FOLDER}/opinfo/core.py:sample_inputs_unary" in entry.samples["sample_inputs_func"].names


def test_a_reference_inherits_the_dtypes_of_its_operator_but_not_its_skips() -> None:
    table = read_operators(
        library(
            'op_db = [UnaryUfuncInfo("abs", dtypes=floating_types_and(torch.bfloat16))]\n'
            'python_ref_db = [PythonRefInfo("_refs.abs", torch_opinfo_name="abs")]\n'
            "ops_and_refs = op_db + python_ref_db\n"
            "unary_ufuncs = [op for op in ops_and_refs if isinstance(op, UnaryUfuncInfo)]\n"
        )
    )
    assert table.entries["_refs.abs"].dtypes == frozenset({"bfloat16", "float32", "float64"})
    assert table.entries["_refs.abs"].decorators == ()
    assert table.lists["ops_and_refs"] == ("abs", "_refs.abs")
    assert table.lists["unary_ufuncs"] == ("abs",)


def test_entries_from_a_function_a_module_and_a_loop_are_found_where_their_lists_have_them() -> None:
    table = read_operators(
        library(
            "from torch.testing._internal import opinfo\n"
            "import torch.testing._internal.opinfo.definitions\n"
            "def make_window(name, skips=()):\n"
            "    return OpInfo(name=name, dtypes=floating_types(), skips=(DecorateInfo(onlyCUDA), *skips))\n"
            'by_dsl = {}\nby_dsl.setdefault("triton", []).append(\n'
            '    OpInfo("bmm", variant_test_name="triton", dtypes=floating_types())\n)\n'
            'op_db = [\n    make_window("hann"),\n]\n'
            "op_db += opinfo.definitions.op_db\n"
            'if os.environ.get("ONLY"):\n    op_db = []\n'
            "else:\n    for ops in by_dsl.values():\n        op_db.extend(ops)\n",
            {
                f"{FOLDER}/opinfo/definitions/__init__.py": (
                    "from torch.testing._internal.opinfo.definitions import fft\nop_db = [*fft.op_db]\n"
                ),
                f"{FOLDER}/opinfo/definitions/fft.py": (
                    "from torch.testing._internal.common_dtype import floating_types\n"
                    "from torch.testing._internal.opinfo.core import OpInfo\n"
                    'op_db = [\n    OpInfo("fft.fft", dtypes=floating_types()),\n]\n'
                ),
            },
        )
    )
    assert table.lists["op_db"] == ("hann", "fft.fft", "bmm.triton")
    assert len(table.entries["hann"].decorators) == 1
    assert table.entries["hann"].place.path == DATABASE
    assert table.entries["fft.fft"].place == Place(f"{FOLDER}/opinfo/definitions/fft.py", 4, 4)
    assert table.notes == ()


def test_decorators_say_for_which_tests_devices_and_dtypes() -> None:
    decorators = (
        'DecorateInfo(unittest.expectedFailure, "TestCommon", "test_out", device_type="mps", dtypes=(torch.half,)),'
        "skipCUDAIfNoCusolver, onlyCUDA, toleranceOverride({torch.half: 1})"
    )
    entry = read_operators(library(f'op_db = [OpInfo("x", dtypes=floating_types(), decorators=({decorators}))]'))
    found = entry.entries["x"].decorators
    assert [one.devices for one in found] == [("mps",), ("cuda",), (), ()]
    assert found[0].text == "expectedFailure of TestCommon.test_out on mps for float16"


def test_an_operator_without_gradients_has_no_dtypes_for_them() -> None:
    entry = read_operators(library('op_db = [OpInfo("eq", dtypes=floating_types(), supports_autograd=False)]'))
    assert entry.entries["eq"].backward_dtypes == frozenset()


def test_what_the_text_does_not_tell_is_told() -> None:
    """An entry with dtypes from elsewhere keeps its name; a list that nobody can know is named; nothing is guessed."""
    table = read_operators(
        library(
            "from somewhere import probed, installed\n"
            'op_db = [OpInfo("odd", dtypes=probed("odd")), OpInfo("even", dtypes=floating_types())]\n'
            'if installed:\n    op_db.append(OpInfo("extra", dtypes=floating_types()))\n'
            "gpu_ops = [op for op in op_db if installed(op)]\n"
        )
    )
    assert table.entries["odd"].dtypes is None
    assert table.entries["even"].dtypes is not None
    notes = "\n".join(table.notes)
    assert "which entries are in gpu_ops is not known" in notes
    assert "left out, as it is not known whether installed" in notes
    assert "the dtypes of 1 entries are not known: odd" in notes


def test_conditions_about_the_machine_count_as_none_that_hold() -> None:
    table = read_operators(
        library('op_db = [OpInfo("x", dtypes=floating_types_and(torch.half) if TEST_WITH_ROCM else floating_types())]')
    )
    assert table.entries["x"].dtypes == frozenset({"float32", "float64"})
    assert any("TEST_WITH_ROCM" in note for note in table.notes)


def test_libraries_count_as_new_enough() -> None:
    ref = 'np.mean if np.lib.NumpyVersion(np.__version__) >= "1.20.2" else None'
    table = read_operators(
        library(
            f'import numpy as np\nop_db = [OpInfo("mean", dtypes=floating_types(), ref={ref})]\n'
            "reference_ops = [op for op in op_db if op.ref is not None]\n"
        )
    )
    assert table.lists["reference_ops"] == ("mean",)


def test_two_entries_of_one_name_are_two() -> None:
    table = read_operators(library(f"op_db = [{ADDMM}, {ADDMM}]"))
    assert list(table.entries) == ["addmm", "addmm (2)"]


def test_a_tree_without_a_database_has_no_operators_and_says_so() -> None:
    table = read_operators(MemoryTree({"setup.py": ""}))
    assert not table.entries
    assert "no database of operators" in table.notes[0]


def test_a_hostile_database_costs_steps_of_which_there_is_a_bound() -> None:
    doubled = "\n".join("x = x + x" for _ in range(200))
    nested = "(" * 90 + "1" + ")" * 90
    table = read_operators(
        library(
            f"x = [1] * 3\n{doubled}\ny = {nested}\n"
            "def f(n):\n    return f(n)\nz = f(1)\n"
            f"op_db = [{ADDMM}]\nfor op in op_db:\n    op_db.append(op)\n"
        )
    )
    assert table.entries.keys() == {"addmm"}


def test_a_cache_gives_the_same_table_without_a_reading() -> None:
    cache = Kept()
    tree = library(f"op_db = [{ADDMM}]")
    read = read_operators(tree, cache)
    assert len(cache.records) == 1
    assert read_operators(library(f"op_db = [{ADDMM}]"), cache) == read
    assert len(cache.records) == 1
    read_operators(library("op_db = []"), cache)
    assert len(cache.records) == 2


def test_a_damaged_record_is_read_anew() -> None:
    cache = Kept()
    tree = library(f"op_db = [{ADDMM}]")
    read = read_operators(tree, cache)
    cache.records = dict.fromkeys(cache.records, b"not a record")
    assert read_operators(tree, cache) == read
