"""Titles and authors: what is asked of GitHub, and for how long an answer is remembered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

import pytest

from relay.hud.errors import HudError
from relay.hud.titles import Title, TitleBook, check_asked, read_commits, read_pulls
from tests.relay.hud.told import NOW


class _GitHub:
    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, wanted: Sequence[str]) -> Mapping[str, Title]:
        self.asked.append(list(wanted))
        return {name: (f"title of {name}", "author") for name in wanted if name != "unknown"}


def test_only_what_is_not_remembered_is_asked_and_at_once() -> None:
    github, book = _GitHub(), TitleBook(timedelta(seconds=300))
    assert book.titles(["1", "unknown", "1"], github, NOW) == {"1": ("title of 1", "author"), "unknown": ("", "")}
    book.titles(["2", "1", "unknown"], github, NOW + timedelta(seconds=299))
    book.titles(["1"], github, NOW + timedelta(seconds=300))
    assert book.titles([], github, NOW) == {}
    assert github.asked == [["1", "unknown"], ["2"], ["1"]]


def test_what_is_remembered_is_bounded() -> None:
    """The oldest is forgotten first."""
    github, book = _GitHub(), TitleBook(timedelta(days=1))
    for start in range(0, 5_050, 50):
        book.titles([str(number) for number in range(start, start + 50)], github, NOW)
    before = len(github.asked)
    book.titles(["5049"], github, NOW)
    assert len(github.asked) == before
    book.titles(["0"], github, NOW)
    assert len(github.asked) == before + 1


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("7, 8", ["7", "8"]),
        ("007", ["7"]),
        ("0,-1,x,1.5,,7", ["7"]),
        ("99999999999999999999,9999999999", []),
        ("\u0661", []),
        (",".join(map(str, range(1, 80))), [str(number) for number in range(1, 51)]),
    ],
)
def test_pull_requests_are_numbers(sent: str, read: list[str]) -> None:
    assert read_pulls(sent) == read


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        ("abcdef0, " + "A" * 40, ["abcdef0", "A" * 40]),
        ('abc") { x },abcdefg,a,' + "a" * 65, []),
        (",".join(["abcdef0"] * 80), ["abcdef0"] * 50),
    ],
)
def test_commits_are_hexadecimal_names(sent: str, read: list[str]) -> None:
    """Nothing else gets into the question to GitHub."""
    assert read_commits(sent) == read


@pytest.mark.parametrize(
    ("repo", "sent", "status"), [("", "7", 400), ("pytorch/pytorch", "", 400), ("a/other", "7", 403)]
)
def test_only_the_upstream_repository_is_asked_about(repo: str, sent: str, status: int) -> None:
    with pytest.raises(HudError) as refused:
        check_asked(repo, sent, "prs", "pytorch/pytorch")
    assert refused.value.status == status
    check_asked("PyTorch/pytorch", "7", "prs", "pytorch/pytorch")
