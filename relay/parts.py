"""What the protocol needs from outside: the allowlist, GitHub, who a token speaks for. Built once by `relay.app`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from relay.allowlist.types import AllowlistUnavailableError, LoadedAllowlist
from relay.github.types import (
    CheckRun,
    FetchedText,
    HookDelivery,
    OpenPull,
    SeenCheckRun,
    SeenComment,
    SeenWorkflowRun,
)

# Two of these are the allowlist's own words; whoever holds the parts meets them here.
__all__ = [
    "AllowlistSource",
    "AllowlistUnavailableError",
    "CrcrParts",
    "GitHub",
    "LoadedAllowlist",
    "TokenRefusedError",
    "TokenVerifier",
    "VerifiedClaims",
]


class AllowlistSource(Protocol):
    """Where the allowlist comes from."""

    def current(self) -> LoadedAllowlist:
        """The allowlist in force: kept for its time to live, then asked for again; a bad or absent new one leaves the
        last good one in force.

        Raises:
            AllowlistUnavailableError: none was ever good.
        """
        ...

    def refresh(self) -> LoadedAllowlist:
        """The same, asked for now whatever its age.

        Raises:
            AllowlistUnavailableError: none was ever good.
        """
        ...

    def names_path(self, paths: Sequence[str], repo: str, ref: str) -> bool:
        """Whether a push to `ref` of `repo` that touches `paths` changes the allowlist's own file."""
        ...


class GitHub(Protocol):
    """GitHub, acting as our App. Every method raises `relay.github.types.GitHubError`."""

    def dispatch(self, repo: str, event_type: str, client_payload: Mapping[str, object]) -> None:
        """`POST /repos/{repo}/dispatches`."""
        ...

    def create_check_run(self, repo: str, check: CheckRun) -> int:
        """`POST /repos/{repo}/check-runs`; the new id."""
        ...

    def update_check_run(self, repo: str, check_id: int, check: CheckRun) -> None:
        """`PATCH /repos/{repo}/check-runs/{check_id}`."""
        ...

    def named_check_runs(self, repo: str, head_sha: str, name: str) -> Sequence[SeenCheckRun]:
        """`GET /repos/{repo}/commits/{head_sha}/check-runs?check_name=`: at most 100, the newest first."""
        ...

    def suite_check_runs(self, repo: str, suite_id: int) -> Sequence[SeenCheckRun]:
        """All check runs of a suite, every page."""
        ...

    def rerun_failed_jobs(self, repo: str, run_id: int) -> None:
        """`POST /repos/{repo}/actions/runs/{run_id}/rerun-failed-jobs`."""
        ...

    def rerun(self, repo: str, run_id: int) -> None:
        """`POST /repos/{repo}/actions/runs/{run_id}/rerun`."""
        ...

    def cancel_run(self, repo: str, run_id: int) -> None:
        """`POST /repos/{repo}/actions/runs/{run_id}/cancel`."""
        ...

    def workflow_run(self, repo: str, run_id: int) -> SeenWorkflowRun | None:
        """`GET /repos/{repo}/actions/runs/{run_id}`; None when there is none."""
        ...

    def commit_exists(self, repo: str, sha: str) -> bool:
        """`GET /repos/{repo}/commits/{sha}`; False for 404 and 422."""
        ...

    def text(self, repo: str, path: str, ref: str, etag: str = "") -> FetchedText:
        """`GET /repos/{repo}/contents/{path}?ref=`, raw, conditional."""
        ...

    def open_pulls(self, repo: str) -> Sequence[OpenPull]:
        """The heads of all open pull requests, the newest change first, at most 1,000."""
        ...

    def pull(self, repo: str, number: int) -> Mapping[str, Any]:
        """`GET /repos/{repo}/pulls/{number}`, as GitHub tells it."""
        ...

    def open_pull_from(self, repo: str, branch: str) -> OpenPull | None:
        """The open pull request from a branch of the repository itself, None when there is none."""
        ...

    def permission(self, repo: str, login: str) -> str:
        """`GET /repos/{repo}/collaborators/{login}/permission`: `admin`, `write`, `read` or `none`."""
        ...

    def comments(self, repo: str, number: int) -> Sequence[SeenComment]:
        """`GET /repos/{repo}/issues/{number}/comments`, the oldest first, at most 1,000."""
        ...

    def create_comment(self, repo: str, number: int, text: str) -> int:
        """`POST /repos/{repo}/issues/{number}/comments`; the new id."""
        ...

    def update_comment(self, repo: str, comment_id: int, text: str) -> None:
        """`PATCH /repos/{repo}/issues/comments/{comment_id}`."""
        ...

    def hook_deliveries(self, since: datetime) -> Sequence[HookDelivery]:
        """`GET /app/hook/deliveries` back to a moment, the newest first, at most 1,000."""
        ...

    def redeliver(self, delivery: int) -> None:
        """`POST /app/hook/deliveries/{delivery}/attempts`."""
        ...

    def close(self) -> None:
        """Close the connections."""
        ...

    def titles(self, repo: str, pulls: Sequence[int], shas: Sequence[str]) -> Mapping[str, tuple[str, str]]:
        """One GraphQL query: title and author's login by pull request number (as text) or SHA, known ones only."""
        ...


@dataclass(frozen=True, slots=True)
class VerifiedClaims:
    """A bearer token that was verified. `repo` is whom it speaks for; `claims` are all it says. `jti` is empty when the
    issuer gives none."""

    repo: str
    issuer: str
    jti: str
    expires_at: datetime
    claims: Mapping[str, object] = field(repr=False)


class TokenRefusedError(Exception):
    """The token speaks for nobody we listen to. `status` is 401, 403, or 503 when the issuer's keys cannot be had."""

    def __init__(self, detail: str, status: int = 401) -> None:
        super().__init__(detail)
        self.detail = detail
        self.status = status


class TokenVerifier(Protocol):
    """Who a bearer token speaks for (crcr-protocol 1.5)."""

    def verify(self, authorization: str | None) -> VerifiedClaims:
        """The claims of the `Authorization` header's token, with or without the scheme.

        Raises:
            TokenRefusedError: it is absent, malformed, expired, of a foreign issuer, or not registered.
        """
        ...

    def close(self) -> None:
        """Close the connections to the issuers."""
        ...


@dataclass(frozen=True, slots=True)
class CrcrParts:
    """The relay's side of the protocol. Without `github` nothing can be sent to it: rows wait in the outbox. `upkeep`
    is what a background thread calls now and then, so that no request waits for a list that has to be fetched."""

    allowlist: AllowlistSource
    verifier: TokenVerifier
    github: GitHub | None
    upkeep: tuple[Callable[[], None], ...] = ()

    def close(self) -> None:
        """Close the connections to the outside."""
        self.verifier.close()
        if self.github is not None:
            self.github.close()
