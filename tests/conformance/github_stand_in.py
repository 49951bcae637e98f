"""A GitHub that remembers what it was asked for, for tests that are about our rules and not about HTTP.

It answers as `relay.github` does, faults included. The HTTP side has tests of its own, in `tests/github`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from relay.github.types import (
    ALREADY_RUNNING,
    CheckRun,
    FetchedText,
    GitHubError,
    HookDelivery,
    OpenPull,
    SeenCheckRun,
    SeenComment,
    SeenWorkflowRun,
)


@dataclass(frozen=True, slots=True)
class Dispatched:
    """A repository_dispatch that was accepted."""

    repo: str
    event_type: str
    client_payload: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ShownCheck:
    """A check run as it stands now, and how often it was written."""

    id: int
    repo: str
    check: CheckRun
    writes: int = 1


@dataclass(frozen=True, slots=True)
class ShownComment:
    """A comment on a pull request as it stands now, and how often it was written."""

    repo: str
    number: int
    seen: SeenComment
    writes: int = 1


@dataclass
class GitHubStandIn:
    """`calls` are (method, repository) in order, refused ones too. `faults` are for the next calls of a method;
    `refusals` are for good, by (method, repository)."""

    dispatches: list[Dispatched] = field(default_factory=list)
    checks: dict[int, ShownCheck] = field(default_factory=dict)
    reruns: list[tuple[str, int, str]] = field(default_factory=list)
    cancels: list[tuple[str, int]] = field(default_factory=list)
    redelivered: list[int] = field(default_factory=list)
    calls: list[tuple[str, str]] = field(default_factory=list)
    faults: dict[str, deque[GitHubError]] = field(default_factory=dict)
    refusals: dict[tuple[str, str], GitHubError] = field(default_factory=dict)
    commits: dict[str, bool] = field(default_factory=dict)
    suites: dict[int, list[SeenCheckRun]] = field(default_factory=dict)
    runs: dict[tuple[str, int], SeenWorkflowRun] = field(default_factory=dict)
    running: set[tuple[str, int]] = field(default_factory=set)
    texts: dict[tuple[str, str, str], FetchedText] = field(default_factory=dict)
    pulls: list[OpenPull] = field(default_factory=list)
    whole_pulls: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    branch_pulls: dict[str, OpenPull] = field(default_factory=dict)
    deliveries: list[HookDelivery] = field(default_factory=list)
    known_titles: dict[str, tuple[str, str]] = field(default_factory=dict)
    permissions: dict[str, str] = field(default_factory=dict)
    comments_by_id: dict[int, ShownComment] = field(default_factory=dict)
    app_id: int = 7

    def fail(self, method: str, *errors: GitHubError) -> None:
        """The next calls of this method end like this."""
        self.faults.setdefault(method, deque()).extend(errors)

    def dispatched_to(self) -> list[str]:
        """The repositories of the accepted dispatches, sorted."""
        return sorted(sent.repo for sent in self.dispatches)

    def named(self, name: str) -> list[ShownCheck]:
        """The check runs of this name, oldest first."""
        return [shown for shown in self.checks.values() if shown.check.name == name]

    def dispatch(self, repo: str, event_type: str, client_payload: Mapping[str, object]) -> None:
        self._asked("dispatch", repo)
        self.dispatches.append(Dispatched(repo, event_type, client_payload))

    def create_check_run(self, repo: str, check: CheckRun) -> int:
        self._asked("create_check_run", repo)
        number = len(self.checks) + 1
        self.checks[number] = ShownCheck(number, repo, check)
        return number

    def update_check_run(self, repo: str, check_id: int, check: CheckRun) -> None:
        self._asked("update_check_run", repo)
        if check_id not in self.checks:
            raise GitHubError("Not Found", status=404)
        known = self.checks[check_id]
        self.checks[check_id] = replace(known, check=check, writes=known.writes + 1)

    def named_check_runs(self, repo: str, head_sha: str, name: str) -> Sequence[SeenCheckRun]:
        self._asked("named_check_runs", repo)
        found = [shown for shown in self.named(name) if (shown.repo, shown.check.head_sha) == (repo, head_sha)]
        return [
            SeenCheckRun(shown.id, name, shown.check.external_id, shown.check.status, shown.check.conclusion)
            for shown in reversed(found)
        ]

    def suite_check_runs(self, repo: str, suite_id: int) -> Sequence[SeenCheckRun]:
        self._asked("suite_check_runs", repo)
        return self.suites.get(suite_id, [])

    def rerun_failed_jobs(self, repo: str, run_id: int) -> None:
        self._asked("rerun_failed_jobs", repo)
        self._rerun(repo, run_id, "failed")

    def rerun(self, repo: str, run_id: int) -> None:
        self._asked("rerun", repo)
        self._rerun(repo, run_id, "all")

    def cancel_run(self, repo: str, run_id: int) -> None:
        self._asked("cancel_run", repo)
        self.cancels.append((repo, run_id))

    def workflow_run(self, repo: str, run_id: int) -> SeenWorkflowRun | None:
        self._asked("workflow_run", repo)
        return self.runs.get((repo, run_id))

    def commit_exists(self, repo: str, sha: str) -> bool:
        self._asked("commit_exists", repo)
        return self.commits.get(sha, False)

    def text(self, repo: str, path: str, ref: str, etag: str = "") -> FetchedText:
        self._asked("text", repo)
        found = self.texts.get((repo, path, ref))
        if found is None:
            raise GitHubError("Not Found", status=404)
        return FetchedText(None, etag) if etag and etag == found.etag else found

    def open_pulls(self, repo: str) -> Sequence[OpenPull]:
        self._asked("open_pulls", repo)
        return self.pulls

    def pull(self, repo: str, number: int) -> Mapping[str, Any]:
        self._asked("pull", repo)
        if number not in self.whole_pulls:
            raise GitHubError("Not Found", status=404)
        return self.whole_pulls[number]

    def open_pull_from(self, repo: str, branch: str) -> OpenPull | None:
        self._asked("open_pull_from", branch)
        return self.branch_pulls.get(branch)

    def hook_deliveries(self, since: datetime) -> Sequence[HookDelivery]:
        self._asked("hook_deliveries", "")
        return [one for one in self.deliveries if datetime.fromisoformat(one.delivered_at) >= since]

    def redeliver(self, delivery: int) -> None:
        self._asked("redeliver", "")
        self.redelivered.append(delivery)

    def titles(self, repo: str, pulls: Sequence[int], shas: Sequence[str]) -> Mapping[str, tuple[str, str]]:
        self._asked("titles", repo)
        wanted = [*map(str, pulls), *shas]
        return {name: self.known_titles[name] for name in wanted if name in self.known_titles}

    def permission(self, repo: str, login: str) -> str:
        self._asked("permission", repo)
        return self.permissions.get(login, "none")

    def comments(self, repo: str, number: int) -> Sequence[SeenComment]:
        self._asked("comments", repo)
        return [one.seen for one in self.comments_by_id.values() if (one.repo, one.number) == (repo, number)]

    def create_comment(self, repo: str, number: int, text: str) -> int:
        self._asked("create_comment", repo)
        made = SeenComment(9_000 + len(self.comments_by_id), self.app_id, True, text)
        self.comments_by_id[made.id] = ShownComment(repo, number, made)
        return made.id

    def update_comment(self, repo: str, comment_id: int, text: str) -> None:
        self._asked("update_comment", repo)
        known = self.comments_by_id.get(comment_id)
        if known is None:
            raise GitHubError("Not Found", status=404)
        self.comments_by_id[comment_id] = replace(known, seen=replace(known.seen, text=text), writes=known.writes + 1)

    def close(self) -> None:
        """Nothing is open."""

    def _asked(self, method: str, repo: str) -> None:
        self.calls.append((method, repo))
        refusal = self.refusals.get((method, repo))
        if refusal is not None:
            raise refusal
        waiting = self.faults.get(method)
        if waiting:
            raise waiting.popleft()

    def _rerun(self, repo: str, run_id: int, which: str) -> None:
        if (repo, run_id) in self.running:
            raise GitHubError(f"The workflow run {run_id} is {ALREADY_RUNNING}", status=403)
        self.reruns.append((repo, run_id, which))
