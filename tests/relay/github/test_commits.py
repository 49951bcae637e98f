"""Whether a commit exists: how often GitHub is asked, and what counts when it cannot be."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.github import commits
from relay.github.commits import ABSENT_FOR, FOUND_FOR, CommitCheck
from relay.github.types import GitHubError

SHA = "a" * 40
OTHER = "b" * 40


class Asked:
    """Known commits; every question is written down. `now` is the clock of the check."""

    def __init__(self, *known: str) -> None:
        self.known = set(known)
        self.questions: list[tuple[str, str]] = []
        self.fault: GitHubError | None = None
        self.at = datetime(2026, 11, 2, tzinfo=UTC)

    def commit_exists(self, repo: str, sha: str) -> bool:
        self.questions.append((repo, sha))
        if self.fault:
            raise self.fault
        return sha in self.known

    def now(self) -> datetime:
        return self.at


def checking(asked: Asked) -> CommitCheck:
    """The check in front of them."""
    return CommitCheck(asked, now=asked.now)


@pytest.mark.parametrize(("known", "life"), [((SHA,), FOUND_FOR), ((), ABSENT_FOR)])
def test_an_answer_is_remembered_for_its_time_and_no_longer(known: tuple[str, ...], life: timedelta) -> None:
    """An hour for yes, five minutes for no; a later truth is not seen before."""
    asked = Asked(*known)
    check = checking(asked)
    first = check.exists("a/b", SHA)
    assert first is bool(known)
    asked.known ^= {SHA}
    asked.at += life - timedelta(microseconds=1)
    assert check.exists("a/b", SHA) is first
    assert len(asked.questions) == 1
    asked.at += timedelta(microseconds=1)
    assert check.exists("a/b", SHA) is not first
    assert len(asked.questions) == 2


@pytest.mark.parametrize("status", [None, 401, 403, 404, 429, 500, 502])
def test_a_failure_counts_as_yes_and_is_not_remembered(status: int | None) -> None:
    """A 404 that is a failure (the App is not installed there) included."""
    asked = Asked()
    asked.fault = GitHubError("no", status=status)
    check = checking(asked)
    assert check.exists("a/b", SHA) is True
    asked.fault = None
    assert check.exists("a/b", SHA) is False


@pytest.mark.parametrize("text", ["", "main", "a" * 7, "a" * 39, "a" * 41, "g" * 40, SHA + "\n", "../" + SHA, "HEAD"])
def test_what_is_no_full_sha_is_not_asked_for(text: str) -> None:
    """GitHub would find a branch or a prefix."""
    asked = Asked(text)
    assert checking(asked).exists("a/b", text) is False
    assert asked.questions == []


def test_repositories_and_shas_are_equal_in_any_letter_case() -> None:
    """Two spellings are one question; two repositories are two."""
    asked = Asked(SHA)
    check = checking(asked)
    assert check.exists("a/b", SHA) is check.exists("A/B", SHA.upper()) is True
    check.exists("a/c", SHA)
    assert [repo for repo, _ in asked.questions] == ["a/b", "a/c"]


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strangers' SHAs cannot fill it; the oldest answers go."""
    monkeypatch.setattr(commits, "REMEMBERED", 2)
    asked = Asked(SHA)
    check = checking(asked)
    for sha in (SHA, OTHER, "c" * 40, SHA, "c" * 40):
        check.exists("a/b", sha)
    assert [sha for _, sha in asked.questions] == [SHA, OTHER, "c" * 40, SHA]
