"""What a definition does is compared, not how it is written; and what was read once is recalled as it was."""

from __future__ import annotations

import pytest

from selector.catalog.record import RecordError
from selector.upgrade.comparing.definition_record import pack_definitions, unpack_definitions
from selector.upgrade.comparing.definitions import Kind, read_definitions

PLAIN = """
def check(x, y=1):
    z = [x, y]
    class Inner:
        def __init__(self):
            super().__init__()
            self.z = z
    return Inner()
"""


def digest(text: str) -> str:
    return read_definitions("test/test_a.py", text).definitions["check"].body


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(x, y=1)", "(x: int, y: int = 1) -> object"),
        ("z = [x, y]", "z: list[int] = [x, y]  # both"),
        ("z = [x, y]", '"""Sums."""\n    z = [\n        x,\n        y,\n    ]'),
        ("class Inner:", "class Inner(object):"),
        ("super()", "super(Inner, self)"),
        ("def __init__(self):", "def __init__(self) -> None:"),
    ],
)
def test_another_spelling_does_the_same(old: str, new: str) -> None:
    changed = PLAIN.replace(old, new)
    assert changed != PLAIN
    assert digest(changed) == digest(PLAIN)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("y=1", "y=2"),
        ("y=1", "*, y=1"),
        ("(x, y=1)", "(x, /, y=1)"),
        ("[x, y]", "(x, y)"),
        ("[x, y]", "[x, -y]"),
        ("[x, y]", "[x, 'y']"),
        ("self.z = z", "self.w = z"),
        ("class Inner:", "class Inner(Outer):"),
        ("super().__init__()", "super().__init__(1)"),
        ("return Inner()", "return Inner"),
    ],
)
def test_another_deed_is_told(old: str, new: str) -> None:
    assert digest(PLAIN.replace(old, new)) != digest(PLAIN)


def test_a_file_is_taken_apart_with_what_leads_elsewhere() -> None:
    text = """
import torch.fx
import torch.nn.functional as F
from .common import base as other
LIMIT = EPS = 3
torch.flag = True
if LIMIT:
    @slow(LIMIT)
    class TestA(other.Base):
        tolerance = EPS
        def test_one(self):
            from torch.jit import trace
            local = 1
            trace(local, F.relu).numpy()
            self.check(unknown)
else:
    class TestA: ...
"""
    file = read_definitions("test/nn/test_a.py", text)
    assert list(file.definitions) == ["LIMIT", "EPS", "TestA.tolerance", "TestA.test_one", "TestA"]
    assert file.imported == {
        "torch": "torch",
        "F": "torch.nn.functional",
        "other": "test.nn.common.base",
        "trace": "torch.jit.trace",
    }
    test = file.definitions["TestA.test_one"]
    assert (test.kind, test.line, test.end_line) == (Kind.FUNCTION, 11, 15)
    assert test.uses == ("F.relu", "self.check", "trace")
    assert test.attributes == ("numpy", "relu")
    cls = file.definitions["TestA"]
    assert (cls.marks, cls.bases) == (("LIMIT",), ("other.Base",))
    assert unpack_definitions(file.path, pack_definitions(file)) == file


def test_a_file_that_does_not_parse_differs_from_another_that_does_not() -> None:
    one, other = (read_definitions("test/test_a.py", text) for text in ("def (", "def )"))
    assert not one.parsed
    assert one.loose != other.loose
    deep = "x = " + "-" * 20_000 + "1\n"
    assert not read_definitions("test/test_a.py", deep).parsed


def test_bytes_of_anything_else_are_no_record() -> None:
    for record in (b"", b"damage", pack_definitions(read_definitions("a.py", PLAIN))[:-40]):
        with pytest.raises(RecordError):
            unpack_definitions("a.py", record)
