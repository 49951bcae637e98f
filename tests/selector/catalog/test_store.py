"""The catalog's file is shared, bounded, and whatever state it is in, never an error."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from selector.catalog.store import CatalogFile

RECORDS = {"a": b"first", "b": b"second" * 40, "c": b""}


@pytest.fixture
def notes() -> list[str]:
    return []


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "work" / "catalog"


@pytest.fixture
def store(path: Path, notes: list[str]) -> Iterator[CatalogFile]:
    yield CatalogFile(path, notes.append)
    assert not list(path.parent.glob("*.new.*"))


def test_what_was_kept_is_loaded_as_it_was(store: CatalogFile, notes: list[str]) -> None:
    assert store.load("p", ["a"]) == {}
    store.keep("p", RECORDS, RECORDS)
    assert store.load("p", [*RECORDS, "unknown"]) == RECORDS
    assert store.load("p", ["b"]) == {"b": RECORDS["b"]}
    assert notes == []


def test_new_records_stand_beside_old_ones_and_replace_those_of_their_key(store: CatalogFile) -> None:
    store.keep("p", ["a"], {"a": b"old", "gone": b"x"})
    store.keep("p", ["b", "a"], {"a": b"new", "b": b"y"})
    assert store.load("p", ["a", "b", "gone"]) == {"a": b"new", "b": b"y", "gone": b"x"}


def test_records_of_another_parser_are_not_loaded_and_go_with_the_next_writing(
    store: CatalogFile, notes: list[str]
) -> None:
    store.keep("old", RECORDS, RECORDS)
    assert store.load("new", RECORDS) == {}
    assert "another version" in notes[0]
    store.keep("new", ["z"], {"z": b"z"})
    assert store.load("old", RECORDS) == {}
    assert store.load("new", [*RECORDS, "z"]) == {"z": b"z"}


def test_the_file_is_bounded_and_what_was_wanted_longest_ago_goes_first(path: Path, notes: list[str]) -> None:
    store = CatalogFile(path, notes.append, limit=10_000)
    for number in range(40):
        store.keep("p", ["always", f"{number}"], {"always": b"a" * 100, f"{number}": os.urandom(700)})
        assert path.stat().st_size <= 10_000
    left = store.load("p", ["always", *map(str, range(40))])
    assert [key for key in left if key != "always"] == [str(number) for number in range(40 - len(left) + 1, 40)]
    assert len(left) > 10
    assert "always" in left


def test_a_record_larger_than_the_file_may_be_is_left_out(path: Path, notes: list[str]) -> None:
    store = CatalogFile(path, notes.append, limit=5_000)
    store.keep("p", ["big", "small"], {"big": b"x" * 6_000, "small": b"s"})
    assert store.load("p", ["big", "small"]) == {"small": b"s"}


def test_a_file_over_the_bound_is_not_read_into_memory(path: Path, notes: list[str]) -> None:
    CatalogFile(path, notes.append).keep("p", ["a"], {"a": b"x" * 9_000})
    small = CatalogFile(path, notes.append, limit=5_000)
    assert small.load("p", ["a"]) == {}
    assert "more than 5000 bytes" in notes[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(at=st.integers(0, 400), byte=st.integers(1, 255), cut=st.booleans())
def test_a_damaged_file_loses_records_and_never_changes_one(
    path: Path, notes: list[str], at: int, byte: int, cut: bool
) -> None:
    store = CatalogFile(path, notes.append)
    path.unlink(missing_ok=True)
    store.keep("p", RECORDS, RECORDS)
    content = bytearray(path.read_bytes())
    at %= len(content)
    if cut:
        del content[at:]
    else:
        content[at] ^= byte
    path.write_bytes(content)
    notes.clear()
    left = store.load("p", RECORDS)
    assert left.items() <= RECORDS.items()
    assert len(left) == len(RECORDS) or len(notes) == 1
    store.keep("p", RECORDS, RECORDS)
    assert store.load("p", RECORDS) == RECORDS


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=st.binary() | st.binary().map(lambda tail: b"test catalog 1\n" + tail))
def test_any_other_file_is_a_note_and_is_written_anew(path: Path, notes: list[str], content: bytes) -> None:
    store = CatalogFile(path, notes.append)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    notes.clear()
    assert store.load("p", RECORDS) == {}
    assert len(notes) == 1
    assert "reading all tests anew" in notes[0]
    store.keep("p", RECORDS, RECORDS)
    assert store.load("p", RECORDS) == RECORDS


def test_a_place_that_cannot_be_used_is_a_note(path: Path, notes: list[str]) -> None:
    path.mkdir(parents=True)
    store = CatalogFile(path, notes.append)
    assert store.load("p", ["a"]) == {}
    store.keep("p", ["a"], {"a": b"x"})
    inside_a_file = CatalogFile(Path(__file__) / "catalog", notes.append)
    assert inside_a_file.load("p", ["a"]) == {}
    inside_a_file.keep("p", ["a"], {"a": b"x"})
    assert ["cannot be read" in note or "cannot be kept" in note for note in notes] == [True] * 4


def test_what_a_dead_writer_left_is_used_by_the_next(store: CatalogFile, path: Path) -> None:
    path.parent.mkdir()
    beside = path.with_name("catalog.new")
    beside.write_bytes(b"half of a file" * 100)
    store.keep("p", ["a"], {"a": b"x"})
    assert store.load("p", ["a"]) == {"a": b"x"}
    assert not beside.exists()


def test_a_link_in_the_place_of_the_next_state_is_not_followed(store: CatalogFile, path: Path, tmp_path: Path) -> None:
    path.parent.mkdir()
    (tmp_path / "precious").write_text("precious")
    path.with_name("catalog.new").symlink_to(tmp_path / "precious")
    store.keep("p", ["a"], {"a": b"x"})
    assert (tmp_path / "precious").read_text() == "precious"


WRITER = """
import sys
from pathlib import Path
from selector.catalog.store import CatalogFile
def note(text): sys.exit(text)
store = CatalogFile(Path(sys.argv[1]), note, patience_s=100)
for turn in range(60):
    key = f"{sys.argv[2]}-{turn}"
    store.keep("p", [key], {key: key.encode() * 2000})
    for found, record in store.load("p", [f"{w}-{t}" for w in "abcd" for t in range(60)]).items():
        if record != found.encode() * 2000:
            sys.exit(f"{found} is not what was kept")
"""


def test_processes_that_write_at_once_damage_nothing(store: CatalogFile, path: Path, notes: list[str]) -> None:
    """Each reads whole records of all, and what each wrote is there at the end."""
    root = Path(__file__).parents[3]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], cwd=root, stderr=subprocess.PIPE, text=True)
        for name in "abcd"
    ]
    ends = [(writer.communicate(timeout=120)[1], writer.returncode) for writer in writers]
    assert ends == [("", 0)] * 4
    kept = store.load("p", [f"{name}-{turn}" for name in "abcd" for turn in range(60)])
    assert len(kept) == 4 * 60
    assert notes == []


def test_a_writer_that_never_ends_is_waited_for_only_so_long(path: Path, notes: list[str]) -> None:
    path.parent.mkdir()
    with path.with_name("catalog.new").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        store = CatalogFile(path, notes.append, patience_s=0.05)
        store.keep("p", ["a"], {"a": b"x"})
        assert store.load("p", ["a"]) == {}
        assert ["was not kept: another process" in note for note in notes] == [True]
    store.keep("p", ["a"], {"a": b"x"})
    assert store.load("p", ["a"]) == {"a": b"x"}
