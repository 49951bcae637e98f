"""What is said to GitHub and heard from it, and how it fails. Sources: https://docs.github.com/en/rest (2022-11-28)."""

from __future__ import annotations

from dataclasses import dataclass

#: The suffix of GitHub's answer to a re-run of what is running (crcr-protocol 1.9).
ALREADY_RUNNING = "already running"


class GitHubError(Exception):
    """GitHub refused or could not be asked. `status` is None without an answer, `retry_after_s` is what its rate limit
    headers ask for. The message is for operators: it quotes GitHub's own, never a token."""

    def __init__(self, message: str, *, status: int | None = None, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later: no answer, 5xx, 429, or a 403 that is a rate limit."""
        if self.status is None or self.status >= 500 or self.status == 429:
            return True
        return self.status == 403 and self.retry_after_s is not None


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run to be shown on a commit. `conclusion` belongs to the status `completed` only."""

    name: str
    head_sha: str
    status: str
    conclusion: str | None
    details_url: str
    external_id: str
    title: str
    summary: str


@dataclass(frozen=True, slots=True)
class SeenCheckRun:
    """A check run as GitHub lists it."""

    id: int
    name: str
    external_id: str
    status: str
    conclusion: str | None


@dataclass(frozen=True, slots=True)
class SeenWorkflowRun:
    """A workflow run of a backend as GitHub knows it."""

    id: int
    status: str
    conclusion: str | None
    run_attempt: int
    html_url: str


@dataclass(frozen=True, slots=True)
class OpenPull:
    """The head of an open pull request."""

    number: int
    head_sha: str
    updated_at: str


@dataclass(frozen=True, slots=True)
class HookDelivery:
    """One delivery of the App's webhook, as GitHub remembers it. `guid` is `X-GitHub-Delivery`."""

    id: int
    guid: str
    event: str
    action: str | None
    status_code: int
    delivered_at: str


@dataclass(frozen=True, slots=True)
class FetchedText:
    """A file of a repository. `text` is None when the ETag that was sent is still the file's."""

    text: str | None
    etag: str


@dataclass(frozen=True, slots=True)
class SeenComment:
    """A comment on a pull request. `app_id` is the GitHub App that wrote it, None for a person's; `bot`: its author is
    one. `text` is untrusted."""

    id: int
    app_id: int | None
    bot: bool
    text: str
