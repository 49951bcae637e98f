"""Where a list comes from, under a test's control, and a clock that stands still."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from relay.github.types import FetchedText, GitHubError


@dataclass
class Clock:
    """The time, in UTC. It moves only when a test says so."""

    at: datetime = field(default_factory=lambda: datetime(2026, 11, 2, 9, 30, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.at

    def tick(self, seconds: float) -> datetime:
        """Let time pass."""
        self.at += timedelta(seconds=seconds)
        return self.at


@dataclass
class Origin:
    """Answers as GitHub does: `text` with an ETag of its own, or `error`. `etags` are what it was asked with."""

    text: str = "L1: [a/b]\n"
    error: GitHubError | None = None
    etags: list[str] = field(default_factory=list)

    def fetch(self, _url: str, etag: str = "") -> FetchedText:
        """The `Fetch` of a source under test."""
        self.etags.append(etag)
        if self.error is not None:
            raise self.error
        own = f'"{hash(self.text)}"'
        return FetchedText(None if etag == own else self.text, own)

    @property
    def asked(self) -> int:
        """How often."""
        return len(self.etags)
