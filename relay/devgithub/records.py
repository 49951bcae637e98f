"""What the local GitHub remembers: apps, repositories, pull requests, check and workflow runs, dispatches, deliveries.

Plain data. Who may read or change it, and what GitHub says about it, is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey

from relay.devgithub.sources import Source

#: Somebody who may write in every repository here.
MAINTAINER = "maintainer"


class RefusedError(Exception):
    """GitHub's no: a status and the sentence of its `message`."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


def not_found() -> RefusedError:
    """What GitHub says of what is not there, and of what the caller may not know to be there."""
    return RefusedError(404, "Not Found")


@dataclass(frozen=True)
class Asked:
    """A request as it came in. `target` is the path with the query; names of headers are in lower case."""

    method: str
    target: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass(frozen=True)
class Answered:
    """The answer to it."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


@dataclass
class App:
    """A GitHub App. `private_pem` is what its owner downloads; GitHub itself keeps the public half."""

    id: int
    slug: str
    owner: str
    created_at: datetime
    public_key: RSAPublicKey = field(repr=False)
    private_pem: str = field(repr=False)
    permissions: dict[str, str]
    events: frozenset[str]
    webhook_url: str = ""
    webhook_secret: str = field(default="", repr=False)


@dataclass
class Installation:
    """An app on an account, with the repositories (casefolded full names) it was given there."""

    id: int
    app: App
    owner: str
    created_at: datetime
    repositories: set[str] = field(default_factory=set)


@dataclass
class Pull:
    """A pull request of a branch of the same repository."""

    id: int
    number: int
    title: str
    body: str
    author: str
    head_ref: str
    head_sha: str
    base_ref: str
    base_sha: str
    created_at: datetime
    updated_at: datetime
    draft: bool = False
    labels: list[str] = field(default_factory=list)
    closed_at: datetime | None = None
    merged_at: datetime | None = None
    merge_commit_sha: str | None = None

    @property
    def state(self) -> str:
        """`open` or `closed`."""
        return "open" if self.closed_at is None else "closed"


@dataclass
class Comment:
    """A comment on a pull request, by a person or, where `app` is one, by an app."""

    id: int
    pull: Pull
    author: str
    app: App | None
    body: str
    created_at: datetime
    updated_at: datetime


@dataclass
class CheckSuite:
    """The check runs of one app on one commit."""

    id: int
    app: App
    head_sha: str
    created_at: datetime
    updated_at: datetime


@dataclass
class CheckRun:
    """A check run as its app wrote it."""

    id: int
    suite: CheckSuite
    name: str
    started_at: datetime | None
    status: str = "queued"
    conclusion: str | None = None
    completed_at: datetime | None = None
    details_url: str = ""
    external_id: str = ""
    output: dict[str, Any] = field(default_factory=dict)


@dataclass
class WorkflowRun:
    """A run of a backend's workflow. `failed_only` tells which kind of re-run began its newest attempt."""

    id: int
    number: int
    name: str
    event: str
    head_sha: str
    created_at: datetime
    updated_at: datetime
    status: str = "queued"
    conclusion: str | None = None
    attempt: int = 1
    failed_only: bool = False


@dataclass(frozen=True)
class Dispatch:
    """An accepted `repository_dispatch`. `run_id` is the workflow run that it started."""

    repo: str
    event_type: str
    client_payload: Mapping[str, Any]
    app: App
    at: datetime
    run_id: int | None


@dataclass
class Delivery:
    """One attempt to deliver a webhook. Attempts of one event share the `guid`."""

    id: int
    guid: str
    app: App
    event: str
    action: str | None
    installation_id: int
    repository_id: int
    body: bytes = field(repr=False)
    headers: dict[str, str] = field(repr=False)
    delivered_at: datetime
    redelivery: bool = False
    duration_s: float = 0.0
    status: str = ""
    status_code: int = 0
    response_headers: dict[str, str] = field(default_factory=dict, repr=False)
    response_body: str = field(default="", repr=False)

    @property
    def taken(self) -> bool:
        """Whether the receiver answered that it has it."""
        return 200 <= self.status_code < 400


@dataclass
class Repository:
    """A repository and all that hangs on it. `workflow` is the file that reacts to dispatches, "" for none;
    `collaborators` are logins (casefolded) with GitHub's word for what they may."""

    id: int
    full_name: str
    created_at: datetime
    source: Source
    default_branch: str = "main"
    private: bool = False
    workflow: str = ".github/workflows/crcr.yml"
    pulls: dict[int, Pull] = field(default_factory=dict)
    comments: dict[int, Comment] = field(default_factory=dict)
    collaborators: dict[str, str] = field(default_factory=lambda: {MAINTAINER: "maintain"})
    suites: dict[int, CheckSuite] = field(default_factory=dict)
    checks: dict[int, CheckRun] = field(default_factory=dict)
    runs: dict[int, WorkflowRun] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Names that differ in letter case only name one repository."""
        return self.full_name.casefold()

    @property
    def owner(self) -> str:
        """The account."""
        return self.full_name.partition("/")[0]

    @property
    def name(self) -> str:
        """The name without the account."""
        return self.full_name.partition("/")[2]
