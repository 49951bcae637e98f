"""Whether a commit exists upstream, asked as seldom as possible and answered kindly when GitHub cannot be asked.

A commit that exists goes on existing, so that is remembered for an hour; one that does not may yet be pushed, so that
is remembered for five minutes. A failure is not remembered and counts as existing: a report must not be lost because
GitHub is down (crcr-protocol 3.7). Existence proves nothing more: commits of forks are found through the upstream too.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Protocol

import structlog

from relay.github.types import GitHubError

FOUND_FOR = timedelta(hours=1)
ABSENT_FOR = timedelta(minutes=5)
#: Answers that are remembered; the oldest go first.
REMEMBERED = 10_000

#: SHA-1, or SHA-256 in repositories of that format. GitHub would take a branch's name or a prefix for a commit as well.
_SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}", re.IGNORECASE)
_log = structlog.get_logger(__name__)


class Commits(Protocol):
    """Who knows which commits there are."""

    def commit_exists(self, repo: str, sha: str) -> bool:
        """Raises `GitHubError`."""
        ...


class CommitCheck:
    """Remembered answers of `commits`; may be used by several threads. `now` is the clock they age by."""

    def __init__(self, commits: Commits, *, now: Callable[[], datetime]) -> None:
        self._commits = commits
        self._now = now
        self._lock = threading.Lock()
        self._answers: OrderedDict[tuple[str, str], tuple[bool, datetime]] = OrderedDict()

    def exists(self, repo: str, sha: str) -> bool:
        """Whether `sha` is a commit of `repo`; true when that cannot be found out. What is no full SHA is none."""
        if _SHA.fullmatch(sha) is None:
            return False
        key = (repo.casefold(), sha.lower())
        known = self._recall(key)
        if known is not None:
            return known
        try:
            found = self._commits.commit_exists(repo, sha)
        except GitHubError as error:
            _log.warning("commit not checked", repo=repo, sha=sha, status=error.status, problem=error.message)
            return True
        self._remember(key, found)
        return found

    def _recall(self, key: tuple[str, str]) -> bool | None:
        with self._lock:
            found, at = self._answers.get(key, (False, None))
            if at is None or self._now() - at >= (FOUND_FOR if found else ABSENT_FOR):
                self._answers.pop(key, None)
                return None
            return found

    def _remember(self, key: tuple[str, str], found: bool) -> None:
        with self._lock:
            self._answers[key] = (found, self._now())
            self._answers.move_to_end(key)
            while len(self._answers) > REMEMBERED:
                self._answers.popitem(last=False)
