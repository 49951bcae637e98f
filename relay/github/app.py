"""GitHub, acting as our App: what the relay asks of it, one method each (`relay.parts.GitHub`).

Owns paths, bodies and paging. Nothing is repeated here but what a stale token or a wrong clock spoiled: when to try
again is for the outbox, which remembers. Source: https://docs.github.com/en/rest (2022-11-28).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import httpx
from pydantic import SecretStr

from relay.github import titles
from relay.github.answers import (
    CheckPage,
    Granted,
    GrantedPermission,
    ListedComment,
    ListedDelivery,
    ListedPull,
    NamedApp,
    Numbered,
    WorkflowRun,
    check_run_body,
    read,
)
from relay.github.exchange import GOOD, Exchange
from relay.github.identity import AppIdentity
from relay.github.installations import Installations
from relay.github.rights import Rights
from relay.github.types import (
    CheckRun,
    FetchedText,
    GitHubError,
    HookDelivery,
    OpenPull,
    SeenCheckRun,
    SeenComment,
    SeenWorkflowRun,
)
from relay.outgoing import Answer

TIMEOUT_S = 20.0
_PAGE = 100
_OPEN: Mapping[str, str | int] = {"state": "open", "sort": "updated", "direction": "desc", "per_page": _PAGE}
#: Pull requests and deliveries that a listing gives at most.
LISTED_CAP = 1_000
#: GitHub keeps no more check runs in a suite.
_SUITE_PAGES = 10
_RAW = "application/vnd.github.raw+json"
_SHA_ONLY = "application/vnd.github.sha"
_REPO = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')


class GitHubApp:
    """The App `app_id` at the API of `api_url`. `transport` replaces the network. May be used by several threads.

    Raises:
        SettingsError: the private key is none.
    """

    def __init__(
        self,
        app_id: int,
        private_key: SecretStr,
        *,
        api_url: str = "https://api.github.com",
        timeout_s: float = TIMEOUT_S,
        transport: httpx.BaseTransport | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        identity = AppIdentity(app_id, private_key, now)
        self._exchange = Exchange(api_url, timeout_s=timeout_s, transport=transport, now=identity.time)
        self._installations = Installations(self._exchange, identity)

    def close(self) -> None:
        """Close the connections."""
        self._exchange.close()

    def name(self) -> str:
        """What the App is called, by GitHub: so the key is its own."""
        return read(NamedApp, self._installations.as_app("GET", "/app")).name

    def rights(self) -> Rights:
        """What the App asks those who install it for."""
        return read(Granted, self._installations.as_app("GET", "/app")).seen()

    def rights_in(self, repo: str) -> Rights:
        """What it was given where it is installed on a repository, which may be less. Raises GitHubError, with status
        404 where it is not installed."""
        return read(Granted, self._installations.as_app("GET", f"/repos/{quote(repo)}/installation")).seen()

    def dispatch(self, repo: str, event_type: str, client_payload: Mapping[str, object]) -> None:
        """Start the workflows of a repository that listen for this event."""
        self._in(repo, "POST", "/dispatches", body={"event_type": event_type, "client_payload": client_payload})

    def create_check_run(self, repo: str, check: CheckRun) -> int:
        """Show a new check run; its number."""
        body = check_run_body(check) | {"head_sha": check.head_sha}
        return read(Numbered, self._in(repo, "POST", "/check-runs", body=body)).id

    def update_check_run(self, repo: str, check_id: int, check: CheckRun) -> None:
        """Let a check run say something else. Its commit stays."""
        self._in(repo, "PATCH", f"/check-runs/{check_id}", body=check_run_body(check))

    def named_check_runs(self, repo: str, head_sha: str, name: str) -> Sequence[SeenCheckRun]:
        """All check runs of a name on a commit, at most 100, the newest first."""
        query: dict[str, str | int] = {"check_name": name, "filter": "all", "per_page": _PAGE}
        listed = read(CheckPage, self._in(repo, "GET", f"/commits/{quote(head_sha, safe='')}/check-runs", query=query))
        return sorted(listed.seen(), key=lambda seen: -seen.id)

    def suite_check_runs(self, repo: str, suite_id: int) -> Sequence[SeenCheckRun]:
        """The newest check run of each name in a suite."""
        found: list[SeenCheckRun] = []
        for page in range(1, _SUITE_PAGES + 1):
            query = {"per_page": _PAGE, "page": page}
            listed = read(CheckPage, self._in(repo, "GET", f"/check-suites/{suite_id}/check-runs", query=query))
            found += listed.seen()
            if not listed.check_runs or len(found) >= listed.total_count:
                break
        return found

    def rerun_failed_jobs(self, repo: str, run_id: int) -> None:
        """Run the failed jobs of a run again."""
        self._in(repo, "POST", f"/actions/runs/{run_id}/rerun-failed-jobs")

    def rerun(self, repo: str, run_id: int) -> None:
        """Run all jobs of a run again."""
        self._in(repo, "POST", f"/actions/runs/{run_id}/rerun")

    def cancel_run(self, repo: str, run_id: int) -> None:
        """Stop a run."""
        self._in(repo, "POST", f"/actions/runs/{run_id}/cancel")

    def workflow_run(self, repo: str, run_id: int) -> SeenWorkflowRun | None:
        """A run, None when there is none."""
        answer = self._in(repo, "GET", f"/actions/runs/{run_id}", good=(200, 404))
        return None if answer.status == 404 else read(WorkflowRun, answer).seen()

    def commit_exists(self, repo: str, sha: str) -> bool:
        """Whether there is this commit. Only its SHA is asked for: a whole commit can have megabytes."""
        path = f"/commits/{quote(sha, safe='')}"
        answer = self._in(repo, "GET", path, headers={"Accept": _SHA_ONLY}, good=(200, 404, 422))
        # A branch may be named as it likes, so what was found is compared.
        return answer.status == 200 and answer.body.strip().lower() == sha.lower().encode()

    def text(self, repo: str, path: str, ref: str, etag: str = "") -> FetchedText:
        """A file at a branch, tag or commit; no text when it is still the one of `etag`."""
        headers = {"Accept": _RAW} | ({"If-None-Match": etag} if etag else {})
        where = f"/contents/{quote(path.strip('/'))}"
        answer = self._in(repo, "GET", where, query={"ref": ref}, headers=headers, good=(200, 304))
        if answer.status == 304:
            return FetchedText(None, etag)
        try:
            return FetchedText(answer.body.decode(), answer.headers.get("etag", ""))
        except UnicodeDecodeError as error:
            raise GitHubError(f"{path} of {repo} is no UTF-8 text", status=415) from error

    def open_pulls(self, repo: str) -> Sequence[OpenPull]:
        """The open pull requests, the one that changed last first."""
        found: dict[int, OpenPull] = {}
        for page in range(1, LISTED_CAP // _PAGE + 1):
            listed = read(list[ListedPull], self._in(repo, "GET", "/pulls", query={**_OPEN, "page": page}))
            # What changes while we turn pages comes up twice; the first is the newer one.
            found = {pull.number: pull.seen() for pull in listed} | found
            if len(listed) < _PAGE:
                break
        return sorted(found.values(), key=lambda pull: pull.updated_at, reverse=True)

    def open_pull_from(self, repo: str, branch: str) -> OpenPull | None:
        """The open pull request from a branch of the repository itself; a fork's branch of that name is not meant."""
        query = {**_OPEN, "head": f"{repo.partition('/')[0]}:{branch}", "per_page": 1}
        listed = read(list[ListedPull], self._in(repo, "GET", "/pulls", query=query))
        return listed[0].seen() if listed else None

    def pull(self, repo: str, number: int) -> Mapping[str, Any]:
        """A pull request, with all that its webhooks hold of it."""
        return read(dict[str, Any], self._in(repo, "GET", f"/pulls/{number}"))

    def permission(self, repo: str, login: str) -> str:
        """`admin`, `write`, `read` or `none`. A login that GitHub does not know may nothing."""
        answer = self._in(repo, "GET", f"/collaborators/{quote(login, safe='')}/permission", good=(200, 404))
        return "none" if answer.status == 404 else read(GrantedPermission, answer).permission

    def comments(self, repo: str, number: int) -> Sequence[SeenComment]:
        """The comments on a pull request, the oldest first, at most 1,000."""
        found: list[SeenComment] = []
        for page in range(1, LISTED_CAP // _PAGE + 1):
            query = {"per_page": _PAGE, "page": page}
            listed = read(list[ListedComment], self._in(repo, "GET", f"/issues/{number}/comments", query=query))
            found += [one.seen() for one in listed]
            if len(listed) < _PAGE:
                break
        return found

    def create_comment(self, repo: str, number: int, text: str) -> int:
        """Write a comment on a pull request; its number."""
        return read(Numbered, self._in(repo, "POST", f"/issues/{number}/comments", body={"body": text})).id

    def update_comment(self, repo: str, comment_id: int, text: str) -> None:
        """Let a comment say something else."""
        self._in(repo, "PATCH", f"/issues/comments/{comment_id}", body={"body": text})

    def hook_deliveries(self, since: datetime) -> Sequence[HookDelivery]:
        """The deliveries of our webhook from `since` on, the newest first."""
        found: list[HookDelivery] = []
        query: dict[str, str | int] = {"per_page": _PAGE}
        while len(found) < LISTED_CAP:
            answer = self._installations.as_app("GET", "/app/hook/deliveries", query=query)
            listed = read(list[ListedDelivery], answer)
            found += [one.seen() for one in listed if one.delivered_at >= since]
            cursor = _cursor(answer)
            if not cursor or not listed or listed[-1].delivered_at < since:
                break
            query["cursor"] = cursor
        return found

    def redeliver(self, delivery: int) -> None:
        """Have a delivery sent to us again."""
        self._installations.as_app("POST", f"/app/hook/deliveries/{delivery}/attempts")

    def titles(self, repo: str, pulls: Sequence[int], shas: Sequence[str]) -> Mapping[str, tuple[str, str]]:
        """Title and author's login by pull request number (as text) or SHA. Up to 50 are one query."""
        found: dict[str, tuple[str, str]] = {}
        for portion in titles.wanted(pulls, shas):
            answer = self._in(repo, "POST", self._graphql_url(), body=titles.query(repo, portion))
            found |= titles.titles(answer.json(), portion)
        return found

    def _graphql_url(self) -> str:
        """Beside the API; a GitHub Enterprise Server has its REST API one level below."""
        base = self._exchange.api_url
        return f"{base.removesuffix('/v3')}/graphql"

    def _in(
        self,
        repo: str,
        method: str,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        good: Iterable[int] = GOOD,
    ) -> Answer:
        """A request about a repository, below it when the path begins with a slash, with a token of the App for it;
        once more with a new one when GitHub does not take it any more."""
        if _REPO.fullmatch(repo) is None or any(part.strip(".") == "" for part in repo.split("/")):
            raise GitHubError(f"{repo[:100]!r} is no repository", status=404)
        where = f"/repos/{repo}{path}" if path.startswith("/") else path
        send = partial(self._exchange.request, method, where, body=body, query=query, headers=headers)
        authorization = self._installations.authorization(repo)
        answer = send(authorization, good=(*good, 401))
        if answer.status != 401:
            return answer
        self._installations.forget(repo, authorization)
        return send(self._installations.authorization(repo), good=good)


def _cursor(answer: Answer) -> str:
    """Where the next page of deliveries begins, empty on the last one."""
    following = _NEXT.search(answer.headers.get("link", ""))
    return parse_qs(urlsplit(following[1]).query).get("cursor", [""])[0] if following else ""
