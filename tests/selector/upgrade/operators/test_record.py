from __future__ import annotations

import pytest

from selector.catalog.record import RecordError
from selector.upgrade.operators.record import pack_operators, unpack_operators
from selector.upgrade.operators.table import Argument, Decorator, Definition, OperatorEntry, OperatorTable
from selector.upgrade.types import Place

ENTRY = OperatorEntry(
    "add",
    "BinaryUfuncInfo",
    Place("db.py", 3, 9),
    frozenset({"float32"}),
    None,
    (Decorator("d", "skip of TestCommon", "TestCommon", ("cuda",)),),
    {"sample_inputs_func": Argument("@1", ("db.py:sample",))},
    {"supports_out": Argument("True")},
)
TABLE = OperatorTable(
    {"add": ENTRY},
    {"op_db": ("add",)},
    {"db.py:sample": Definition("db.py:sample", "x", Place("db.py", 1, 2), ("db.py:size",))},
    ("a note",),
)


def test_a_table_comes_back_as_it_was() -> None:
    assert unpack_operators(pack_operators(TABLE)) == TABLE
    assert unpack_operators(pack_operators(OperatorTable())) == OperatorTable()


@pytest.mark.parametrize("damage", [b"", b"no record", pack_operators(TABLE)[:40]])
def test_other_bytes_are_refused(damage: bytes) -> None:
    with pytest.raises(RecordError, match="no table of operators"):
        unpack_operators(damage)
