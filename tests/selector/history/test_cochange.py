"""Files that changed together in the year before the base, and nothing from outside that year."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from selector.history import CoChange, Commit, CommitStore
from selector.history.cochange import WINDOW_S

NOW = 2_000_000_000
DAY = 24 * 3600


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CommitStore]:
    with CommitStore(tmp_path / "history") as opened:
        yield opened


def fill(store: CommitStore, *commits: tuple[str, int, tuple[str, ...]]) -> None:
    store.add([Commit(name, seconds, files) for name, seconds, files in commits], commits[-1][0])


def test_small_and_recent_commits_weigh_more(store: CommitStore) -> None:
    fill(
        store,
        ("old", NOW - 120 * DAY, ("a.py", "test_old.py")),
        ("wide", NOW, ("a.py", "test_wide.py", "x.py", "y.py")),
        ("near", NOW, ("a.py", "test_near.py")),
    )
    assert CoChange(store, "near").changed_with(["a.py"])["a.py"] == {
        "test_old.py": 0.25,
        "test_wide.py": 0.25,
        "x.py": 0.25,
        "y.py": 0.25,
        "test_near.py": 0.5,
    }


def test_what_comes_after_the_base_is_not_seen(store: CommitStore) -> None:
    fill(
        store,
        ("base", NOW, ("a.py", "test_before.py")),
        ("later", NOW - DAY, ("a.py", "test_later.py")),
        ("ahead", NOW + DAY, ("a.py", "test_ahead.py")),
    )
    assert CoChange(store, "base").changed_with(["a.py"])["a.py"].keys() == {"test_before.py"}
    assert CoChange(store, "later").changed_with(["a.py"])["a.py"].keys() == {"test_later.py"}


def test_a_year_is_the_limit_and_sweeps_do_not_count(store: CommitStore) -> None:
    sweep = tuple(f"file{number}.py" for number in range(100))
    fill(
        store,
        ("ancient", NOW - WINDOW_S - 1, ("a.py", "test_ancient.py")),
        ("sweep", NOW, ("a.py", *sweep)),
        ("base", NOW, ("b.py",)),
    )
    assert CoChange(store, "base").changed_with(["a.py", "b.py", "unknown.py"]) == {}


def test_an_unknown_base_has_no_past(store: CommitStore) -> None:
    fill(store, ("base", NOW, ("a.py", "test_a.py")))
    assert CoChange(store, "never read").changed_with(["a.py"]) == {}
