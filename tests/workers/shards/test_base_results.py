"""What is kept of a base comparison, for whom, and that a broken cache breaks nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from relay.contract import Attempt, Observation, Tree
from workers.shards.base_results import STABLE, CachedBase, NothingKnown, ObservationStore

P, F, S = Observation.PASSED, Observation.FAILED, Observation.SKIPPED


def tries(*seen: Observation, detail: str = "why") -> list[Attempt]:
    return [
        Attempt(tree=Tree.BASE, number=number, observation=one, duration_s=0.5, detail=detail)
        for number, one in enumerate(seen, start=1)
    ]


@pytest.fixture
def store(tmp_path: Path) -> ObservationStore:
    return ObservationStore(tmp_path / "work" / "base.sqlite3")


@pytest.mark.parametrize("seen", [(P,), (S,), (F, F), (F, P)])
def test_what_is_stable_comes_back_marked_as_reused(store: ObservationStore, seen: Sequence[Observation]) -> None:
    """From another store on the same file too: that is another process."""
    CachedBase(store, "base").remember({"t": tries(*seen)})
    found = CachedBase(ObservationStore(store.file), "base").known(["other", "t"])
    assert found == {"t": tuple(one.model_copy(update={"reused": True}) for one in tries(*seen))}


@pytest.mark.parametrize("seen", sorted(set(Observation) - STABLE))
def test_what_depends_on_the_machine_is_not_kept(store: ObservationStore, seen: Observation) -> None:
    """Nor is any other attempt at the same test: half a story would be another story."""
    base = CachedBase(store, "base")
    base.remember({"t": tries(F, seen), "u": tries(seen), "v": []})
    assert base.known(["t", "u", "v"]) == {}


def test_another_base_knows_nothing_of_it(store: ObservationStore) -> None:
    CachedBase(store, "base").remember({"t": tries(F, F)})
    assert CachedBase(store, "other").known(["t"]) == {}
    assert NothingKnown().known(["t"]) == {}


def test_a_new_look_replaces_the_old_one(store: ObservationStore) -> None:
    base = CachedBase(store, "base")
    base.remember({"t": tries(F, F)})
    base.remember({"t": tries(P)})
    assert [one.observation for one in base.known(["t"])["t"]] == [P]


def test_many_tests_with_odd_names_are_asked_for_at_once(store: ObservationStore) -> None:
    names = [f"test/test_a.py::T::test_{number}['\"%?]" for number in range(1_700)]
    base = CachedBase(store, "base")
    base.remember({name: tries(F, F) for name in names})
    assert base.known(names).keys() == set(names)


def test_the_file_is_bounded_and_the_oldest_go_first(tmp_path: Path) -> None:
    ticks = count()
    store = ObservationStore(tmp_path / "base.sqlite3", max_tests=20, now=lambda: next(ticks))
    for number in range(30):
        store.save("base", {f"t{number}": tries(F, detail="x" * 7_000)})
    kept = store.load("base", [f"t{number}" for number in range(30)])
    assert 18 <= len(kept) <= 20
    assert "t29" in kept
    assert "t0" not in kept
    assert all(len(one[0].detail) == 2_000 for one in kept.values())


def test_processes_share_the_file(store: ObservationStore) -> None:
    """Several that write at once wait for each other."""

    def write(number: int) -> None:
        CachedBase(ObservationStore(store.file), "base").remember({f"t{number}": tries(F, F)})

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(40)))
    assert len(CachedBase(store, "base").known([f"t{number}" for number in range(40)])) == 40


def test_a_damaged_file_is_forgotten_and_made_anew(store: ObservationStore) -> None:
    """No shard fails for it."""
    store.file.parent.mkdir()
    store.file.write_bytes(b"this is no database" * 1_000)
    base = CachedBase(store, "base")
    assert base.known(["t"]) == {}
    base.remember({"t": tries(P)})
    assert base.known(["t"])["t"][0].observation is P


def test_a_folder_that_cannot_be_used_costs_only_the_memory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    base = CachedBase(ObservationStore(tmp_path / "file" / "base.sqlite3"), "base")
    base.remember({"t": tries(P)})
    assert base.known(["t"]) == {}


@pytest.mark.parametrize(
    "row", ["", "{}", "[1]", '[["flown", 1, ""]]', '[["passed", -1, ""]]', '[["passed", "x", ""]]']
)
def test_a_row_of_another_version_is_no_knowledge(store: ObservationStore, row: str) -> None:
    store.save("base", {"t": tries(P)})
    with sqlite3.connect(store.file) as connection:
        connection.execute("UPDATE seen SET attempts = ?", (row,))
    connection.close()
    assert store.load("base", ["t"]) == {}
