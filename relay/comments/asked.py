"""Who asks, where, and in which words of the record: what every command of one comment shares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from relay.access.actions import Actor
from relay.access_views import Via
from relay.comments import comment_words as words
from relay.intake.events import PullRequestChanged
from relay.settings import RelaySettings


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with commands, as it was taken in. `text` is untrusted."""

    repo: str
    number: int
    comment_id: int
    login: str
    pull_author: str
    app_id: int | None
    at: str
    text: str

    @property
    def by_author(self) -> bool:
        """Whether whoever opened the pull request wrote it."""
        return bool(self.pull_author) and self.login.casefold() == self.pull_author.casefold()


@dataclass(frozen=True, slots=True)
class Asked:
    """A comment, what its author may (`permission`), and what GitHub says of the pull requests that are to be tested:
    by number, None where it says nothing that can be used. `devices` are those that are served; a command is about the
    first, unless it names another."""

    settings: RelaySettings
    comment: Comment
    permission: str
    pulls: dict[int, PullRequestChanged | None]
    open_pulls: frozenset[int]
    now: datetime
    devices: tuple[str, ...]

    @property
    def device(self) -> str:
        """The device that is meant."""
        return self.devices[0]

    def on(self, device: str) -> Asked:
        """The same about another device, which comes first then."""
        return replace(self, devices=(device, *(it for it in self.devices if it != device)))

    @property
    def actor(self) -> Actor:
        """As the audit log has it."""
        return Actor(self.comment.login, None, Via.COMMENT, f"comment-{self.comment.comment_id}")

    @property
    def where(self) -> str:
        """For the audit log."""
        return f"asked on {self.comment.repo}#{self.comment.number}"

    def run(self, run_id: int) -> str:
        """A link."""
        return words.run_link(run_id, self.settings.public_url)
