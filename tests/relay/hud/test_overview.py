"""The lists of the first page."""

from __future__ import annotations

from typing import Any

from relay.allowlist.types import Backend, Level, Participation
from relay.hud.overview import backend_lines
from tests.relay.hud.told import PROBE

_PULLS = Participation.PULL_REQUEST


def _row(repo: str, rate: float = 1.0, level: str = "L2") -> dict[str, Any]:
    return {"repo": repo, "pass_rate": rate, "downstream_repo_level": level}


def test_registered_backends_are_shown_with_or_without_figures() -> None:
    backends = [Backend("a/l2", Level.L2), Backend("a/l4", Level.L4), Backend("a/l1", Level.L1)]
    lines = backend_lines(backends, [_row("A/L2")], _PULLS)
    assert list(lines) == [Level.L4, Level.L3, Level.L2, Level.L1]
    assert [(line.repo, line.figures is not None) for level in lines.values() for line in level] == [
        ("a/l4", False),
        ("a/l2", True),
        ("a/l1", False),
    ]


def test_the_worst_pass_rate_is_first_and_no_figures_last() -> None:
    backends = [Backend(f"a/{name}", Level.L2) for name in ("none", "good", "bad")]
    lines = backend_lines(backends, [_row("a/good"), _row("a/bad", 0.5)], _PULLS)[Level.L2]
    assert [line.repo for line in lines] == ["a/bad", "a/good", "a/none"]


def test_a_backend_that_is_not_listed_is_shown_by_the_level_it_reported() -> None:
    lines = backend_lines([], [_row("a/x", level="L3"), _row("a/y", level=""), _row("a/z", level="L9")], _PULLS)
    assert [line.repo for line in lines[Level.L3]] == ["a/x"]
    assert [(line.repo, line.listed) for line in lines[Level.L2]] == [("a/y", False), ("a/z", False)]


def test_the_probe_is_hidden() -> None:
    lines = backend_lines([Backend(PROBE, Level.L3)], [_row(PROBE)], _PULLS)
    assert not any(lines.values())


def test_a_tab_shows_who_takes_part_and_who_reported_all_the_same() -> None:
    nightly = frozenset({Participation.NIGHTLY})
    backends = [Backend("a/quiet", Level.L2, events=nightly), Backend("a/told", Level.L2, events=nightly)]
    assert [line.repo for line in backend_lines(backends, [_row("a/told")], _PULLS)[Level.L2]] == ["a/told"]
    assert len(backend_lines(backends, [], Participation.NIGHTLY)[Level.L2]) == 2
