"""The command for older runs is the question that was asked, from there on."""

from __future__ import annotations

import shlex

import pytest

from relay.cli.run_reading import older_runs


@pytest.mark.parametrize(
    ("asked", "command"),
    [
        ({"--state": None, "--pr": None}, "relay run list --before 7"),
        ({"--pr": 20}, "relay run list --pr 20 --before 7"),
        (
            {"--state": "failure", "--pr": 12, "--limit": 3},
            "relay run list --state failure --pr 12 --limit 3 --before 7",
        ),
        ({"--branch": "a b; rm"}, "relay run list --branch 'a b; rm' --before 7"),
    ],
)
def test_the_filters_stay(asked: dict[str, str | int | None], command: str) -> None:
    """Quoted for a shell."""
    assert older_runs(asked, 7) == command
    assert shlex.split(command)[-2:] == ["--before", "7"]
