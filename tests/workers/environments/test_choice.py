"""Which environment answers: nearest by commits, else by version, else the worker's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workers.pythons import an_environment
from tests.workers.small_upstream import Upstream
from workers.environments.choice import Nearness, choose, parse_version
from workers.upstream.checkout import Mirror, Mirrors

UNKNOWN = "d" * 40


@pytest.fixture
def history(upstream: Upstream) -> list[str]:
    """Eight commits of a tree of version 2.13.0a0."""
    return [upstream.commit({"version.txt": "2.13.0a0\n", "a": str(number)}) for number in range(8)]


@pytest.fixture
def mirror(upstream: Upstream, history: list[str], tmp_path: Path) -> Mirror:
    mirror = Mirrors(tmp_path / "mirrors").open(str(upstream.path))
    mirror.ensure(upstream.change(history[0], history[-1]))
    return mirror


def test_one_environment_is_no_choice_but_is_named(mirror: Mirror, history: list[str]) -> None:
    choice = choose([an_environment("default", "2.13.0+cpu", UNKNOWN)], mirror, history[4])
    assert choice.environment.name == "default"
    assert choice.why == ""
    assert choice.notes == (f"Torch 2.13.0+cpu ({UNKNOWN[:12]}) of environment default answers for this run.",)


def test_commits_decide_where_all_are_known(mirror: Mirror, history: list[str]) -> None:
    """In both directions of history, and against the version."""
    default = an_environment("default", "2.13.0", history[0])
    near = an_environment("near", "2.14.0", history[6])
    choice = choose([default, near], mirror, history[4])
    assert choice.environment is near
    assert "2 commits from the base commit" in choice.notes[0]
    assert "default 4" in choice.why


def test_versions_decide_where_one_is_unknown(mirror: Mirror, history: list[str]) -> None:
    default = an_environment("default", "2.12.0", history[4])
    fitting = an_environment("fitting", "2.13.0", UNKNOWN)
    choice = choose([default, fitting], mirror, history[4])
    assert choice.environment is fitting
    assert "nearest to the tree's version" in choice.why


def test_equal_versions_fall_back_on_commits(mirror: Mirror, history: list[str]) -> None:
    names = {"default": UNKNOWN, "far": history[0], "near": history[3]}
    environments = [an_environment(name, "2.13.0", sha) for name, sha in names.items()]
    assert choose(environments, mirror, history[4]).environment.name == "near"


def test_the_workers_own_wins_a_tie(mirror: Mirror, history: list[str]) -> None:
    environments = [an_environment(name, "2.13.0", UNKNOWN) for name in ("a", "default", "b")]
    assert choose(environments, mirror, history[4]).environment.name == "default"
    assert choose([environments[2], environments[0]], mirror, history[4]).environment.name == "a"


def test_another_minor_version_is_said_up_front(mirror: Mirror, history: list[str]) -> None:
    choice = choose([an_environment("default", "2.6.1+cpu")], mirror, history[4])
    assert "The tree is of version 2.13.0: tests may ask for what this torch lacks" in choice.notes[0]


@pytest.mark.parametrize("content", [None, "no version\n", "\0\0", Path("/etc/hostname")])
def test_a_tree_without_a_readable_version_is_chosen_for_all_the_same(
    upstream: Upstream, tmp_path: Path, content: str | Path | None
) -> None:
    sha = upstream.commit({"a": "1", **({"version.txt": content} if content is not None else {})})
    mirror = Mirrors(tmp_path / "mirrors").open(str(upstream.path))
    mirror.ensure(upstream.change(sha, sha))
    environments = [an_environment("a", "2.12.0"), an_environment("default", "2.13.0")]
    choice = choose(environments, mirror, sha)
    assert choice.environment.name == "default"
    assert "The tree is of version" not in choice.notes[0]


@pytest.mark.parametrize(
    ("text", "version"),
    [("2.6.0a0+git1", (2, 6, 0)), ("2.13.0+cpu", (2, 13, 0)), ("2.7\n", (2, 7, 0)), ("x", None), ("2", None)],
)
def test_versions_are_read(text: str, version: tuple[int, int, int] | None) -> None:
    assert parse_version(text) == version


_versions = st.tuples(*[st.integers(0, 3)] * 3)


@given(tree=_versions, versions=st.lists(_versions, min_size=2, max_size=5))
def test_a_gap_is_nought_only_for_the_very_version(
    tree: tuple[int, int, int], versions: list[tuple[int, int, int]]
) -> None:
    """And majors outweigh minors, which outweigh micros."""
    gaps = [Nearness(an_environment("x"), None, version, tree).version_gap for version in versions]
    for version, gap in zip(versions, gaps, strict=True):
        assert (gap == (0, 0, 0)) == (version == tree)
        assert gap <= (gap[0], 99, 99) < (gap[0] + 1, 0, 0)
    assert Nearness(an_environment("x"), None, None, tree).version_gap > max(gaps)
