"""The CPU's answers, kept between runs."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from selector.manifests.models import DtypeTolerance
from tests.workers.models.model_bench import CHECK
from workers.models.references import References


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (replace(CHECK, tolerances={"float32": DtypeTolerance(1, 1), "float16": DtypeTolerance(1, 1)}), True),
        (replace(CHECK, compiled_by="inductor"), True),
        (replace(CHECK, seed=2), False),
        (replace(CHECK, dtypes=("float32",)), False),
    ],
)
def test_an_answer_is_found_for_what_it_depends_on(tmp_path: Path, other: object, same: bool) -> None:
    """How close the device has to come is no part of it."""
    assert isinstance(other, type(CHECK))
    references = References(tmp_path / "kept", "base")
    references.save(CHECK, b"answer")
    assert references.load(other) == (b"answer" if same else None)
    assert replace(references, identity="another base").load(CHECK) is None


def test_the_answers_used_longest_ago_make_room(tmp_path: Path) -> None:
    references = References(tmp_path, "base", most_bytes=25)
    first, second = replace(CHECK, seed=1), replace(CHECK, seed=2)
    for age, check in ((200, first), (100, second)):
        before = set(tmp_path.iterdir())
        references.save(check, b"0123456789")
        (made,) = set(tmp_path.iterdir()) - before
        os.utime(made, (made.stat().st_mtime - age,) * 2)
    assert references.load(first) is not None
    references.save(replace(CHECK, seed=3), b"0123456789")
    assert references.load(first) is not None
    assert references.load(second) is None


def test_without_a_folder_or_room_nothing_is_kept(tmp_path: Path) -> None:
    """The run goes on."""
    none = References(None, "base")
    none.save(CHECK, b"answer")
    assert none.load(CHECK) is None
    (tmp_path / "file").write_text("")
    taken = References(tmp_path / "file", "base")
    taken.save(CHECK, b"answer")
    assert taken.load(CHECK) is None
