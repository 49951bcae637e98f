"""The parts of GitHub's answers that are read, and what is written in a check run. Pure.

Everything that is not named here is passed over, so GitHub may add fields as it likes.
"""

from __future__ import annotations

from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from relay.github.rights import Rights
from relay.github.types import (
    CheckRun,
    GitHubError,
    HookDelivery,
    OpenPull,
    SeenCheckRun,
    SeenComment,
    SeenWorkflowRun,
)
from relay.outgoing import Answer

#: GitHub's caps, beyond which it refuses the whole check run (in characters).
_SUMMARY_CAP = 65_535
_TITLE_CAP = 255

_T = TypeVar("_T")


class Numbered(BaseModel):
    """Anything with GitHub's number."""

    id: int


class NamedApp(BaseModel):
    """An App, by what people call it."""

    name: str


class Granted(BaseModel):
    """An App, or where it is installed: what it may, and what it is told of."""

    permissions: dict[str, str] = {}
    events: list[str] = []

    def seen(self) -> Rights:
        """As this relay knows it."""
        return Rights(self.permissions, frozenset(self.events))


class MintedToken(BaseModel):
    """An installation token."""

    token: str = Field(repr=False, min_length=1)
    expires_at: datetime


class _ListedCheck(BaseModel):
    id: int
    name: str
    external_id: str | None = None
    status: str
    conclusion: str | None = None


class CheckPage(BaseModel):
    """A page of a suite's check runs."""

    total_count: int
    check_runs: list[_ListedCheck]

    def seen(self) -> list[SeenCheckRun]:
        """As this relay knows them."""
        return [
            SeenCheckRun(one.id, one.name, one.external_id or "", one.status, one.conclusion) for one in self.check_runs
        ]


class WorkflowRun(BaseModel):
    """A run of a workflow."""

    id: int
    status: str | None = None
    conclusion: str | None = None
    run_attempt: int = 1
    html_url: str

    def seen(self) -> SeenWorkflowRun:
        """As this relay knows it. GitHub documents that a run may have no status yet."""
        return SeenWorkflowRun(self.id, self.status or "queued", self.conclusion, self.run_attempt, self.html_url)


class _Head(BaseModel):
    sha: str


class ListedPull(BaseModel):
    """An open pull request."""

    number: int
    head: _Head
    updated_at: str

    def seen(self) -> OpenPull:
        """As this relay knows it."""
        return OpenPull(self.number, self.head.sha, self.updated_at)


class ListedDelivery(BaseModel):
    """A delivery of the App's webhook."""

    id: int
    guid: str
    event: str
    action: str | None = None
    status_code: int
    delivered_at: datetime

    def seen(self) -> HookDelivery:
        """As this relay knows it."""
        at = self.delivered_at.isoformat()
        return HookDelivery(self.id, self.guid, self.event, self.action, self.status_code, at)


class GrantedPermission(BaseModel):
    """What a user may do in a repository."""

    permission: str


class _Author(BaseModel):
    type: str = ""


class ListedComment(BaseModel):
    """A comment on an issue, and every pull request is one."""

    id: int
    body: str | None = None
    user: _Author | None = None
    performed_via_github_app: Numbered | None = None

    def seen(self) -> SeenComment:
        """As this relay knows it. An account that was deleted leaves no user."""
        app = self.performed_via_github_app
        return SeenComment(
            self.id, None if app is None else app.id, self.user is not None and self.user.type == "Bot", self.body or ""
        )


def read(kind: type[_T], answer: Answer) -> _T:
    """The answer as this kind.

    Raises:
        GitHubError: it is something else; a proxy may stand between GitHub and us, so it may be right later.
    """
    try:
        return TypeAdapter(kind).validate_json(answer.body)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors(include_input=False, include_url=False)[0]["loc"])
        place = f" (at {where})" if where else ""
        raise GitHubError(f"GitHub's answer is not what it documents{place}") from error


def check_run_body(check: CheckRun) -> dict[str, object]:
    """What a check run is written with, but for its commit, which is told only once."""
    body: dict[str, object] = {
        "name": check.name,
        "status": check.status,
        "external_id": check.external_id,
        "output": {"title": check.title[:_TITLE_CAP], "summary": check.summary[:_SUMMARY_CAP]},
    }
    if check.details_url:
        body["details_url"] = check.details_url
    # GitHub takes any conclusion for a completion, whatever the status says.
    if check.status == "completed" and check.conclusion is not None:
        body["conclusion"] = check.conclusion
    return body
