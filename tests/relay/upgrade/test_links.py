"""Evidence leads to where it can be read, and an address is made of nothing that a stranger could choose."""

from __future__ import annotations

import hashlib

from relay.upgrade import links
from selector.upgrade.types import Evidence, Origin, Place, TestChange

_ORIGIN = Origin("https://github.com/pytorch/pytorch", "a" * 40, "b" * 40)
_COMPARED = f"https://github.com/pytorch/pytorch/compare/{'a' * 40}...{'b' * 40}"


def _evidence(base: Place | None, head: Place | None) -> Evidence:
    return Evidence(TestChange.BODY, "test_a", "one line differs", base, head)


def test_a_hunk_is_named_by_the_digest_of_its_path_and_the_side_of_its_lines() -> None:
    changed = _evidence(Place("test/a.py", 3, 5), Place("test/b.py", 4, 9))
    removed = _evidence(Place("test/a.py", 3), None)
    assert links.hunk(_ORIGIN, changed) == f"{_COMPARED}#diff-{hashlib.sha256(b'test/b.py').hexdigest()}R4-R9"
    assert links.hunk(_ORIGIN, removed) == f"{_COMPARED}#diff-{hashlib.sha256(b'test/a.py').hexdigest()}L3"


def test_both_sides_are_lines_of_a_file_at_a_commit() -> None:
    changed = _evidence(Place("test/a.py", 3, 5), Place("test/odd#?.py"))
    assert links.before(_ORIGIN, changed) == f"{_ORIGIN.repository}/blob/{'a' * 40}/test/a.py#L3-L5"
    assert links.after(_ORIGIN, changed) == f"{_ORIGIN.repository}/blob/{'b' * 40}/test/odd%23%3F.py"


def test_folders_have_no_addresses_but_lines() -> None:
    changed = _evidence(Place("test/a.py", 3, 5), Place("test/a.py", 7, 7))
    nowhere = Origin()
    assert [links.hunk(nowhere, changed), links.before(nowhere, changed), links.after(nowhere, changed)] == [""] * 3
    assert [links.spelt(Place("a.py", 3, 5)), links.spelt(Place("a.py", 7, 7)), links.spelt(Place("a.py"))] == [
        *("a.py:3-5", "a.py:7", "a.py"),
    ]
