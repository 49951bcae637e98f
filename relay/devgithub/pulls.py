"""Pull requests and pushes: what happens upstream, and the events that tell of it.

Each function changes the state, then delivers the event and waits for the receivers' answers.
"""

from __future__ import annotations

from typing import Any

from relay.devgithub.bodies import full_repository, pushed_commit, user, web_url
from relay.devgithub.pull_bodies import full_pull, label
from relay.devgithub.records import Delivery, Pull, RefusedError, Repository, not_found
from relay.devgithub.sources import Commit, MemorySource
from relay.devgithub.state import DevGitHub

ZERO_SHA = "0" * 40


def open_pull(
    state: DevGitHub,
    repo: str,
    *,
    head: str,
    base: str = "",
    title: str = "",
    body: str = "",
    author: str = "contributor",
    head_ref: str = "",
    labels: tuple[str, ...] = (),
    draft: bool = False,
) -> tuple[Pull, list[Delivery]]:
    """Open a pull request of the commit `head` against `base` (a revision; the default branch when left out).

    In a repository of memory an unknown `head` becomes known: what is asked for is pushed first, as by a person.

    Raises:
        RefusedError: 404 for an unknown repository, 422 for a revision that names no commit.
    """
    repository = state.repository(repo)
    base_ref = base or repository.default_branch
    tip, ground = _commit(repository, head), _commit(repository, base_ref)
    with state.lock:
        number = max(repository.pulls, default=0) + 1
        made = Pull(
            id=state.next_id(),
            number=number,
            title=title or tip.message.partition("\n")[0] or f"Change {number}",
            body=body,
            author=author,
            head_ref=head_ref or f"change-{number}",
            head_sha=tip.sha,
            base_ref=base_ref.removeprefix("refs/heads/"),
            base_sha=ground.sha,
            created_at=state.now(),
            updated_at=state.now(),
            draft=draft,
            labels=list(labels),
        )
        repository.pulls[number] = made
    return made, _announce(state, repository, made, "opened")


def synchronize_pull(state: DevGitHub, repo: str, number: int, head: str) -> list[Delivery]:
    """Push a new head to a pull request. Raises RefusedError as `open_pull`, and 404 for an unknown pull request."""
    repository, pull = find_pull(state, repo, number)
    before, pull.head_sha = pull.head_sha, _commit(repository, head).sha
    return _announce(state, repository, pull, "synchronize", before=before, after=pull.head_sha)


def label_pull(state: DevGitHub, repo: str, number: int, name: str, *, remove: bool = False) -> list[Delivery]:
    """Put a label on a pull request, or take it off. Nothing happens when it is there (or off) already."""
    repository, pull = find_pull(state, repo, number)
    if (name in pull.labels) is not remove:
        return []
    pull.labels = [each for each in pull.labels if each != name] if remove else [*pull.labels, name]
    action = "unlabeled" if remove else "labeled"
    return _announce(state, repository, pull, action, label=label(state, repository, name))


def edit_pull(state: DevGitHub, repo: str, number: int, title: str) -> list[Delivery]:
    """Give a pull request another title."""
    repository, pull = find_pull(state, repo, number)
    changes = {"title": {"from": pull.title}}
    pull.title = title
    return _announce(state, repository, pull, "edited", changes=changes)


def close_pull(state: DevGitHub, repo: str, number: int, *, merged: bool = False) -> list[Delivery]:
    """Close a pull request, merged or not. Raises RefusedError 422 when it is closed already."""
    repository, pull = find_pull(state, repo, number)
    if pull.closed_at is not None:
        raise RefusedError(422, f"Pull request {number} is closed")
    pull.closed_at = state.now()
    if merged:
        pull.merged_at, pull.merge_commit_sha = pull.closed_at, pull.head_sha
    return _announce(state, repository, pull, "closed")


def reopen_pull(state: DevGitHub, repo: str, number: int) -> list[Delivery]:
    """Open a closed pull request again. Raises RefusedError 422 when it is open, or merged."""
    repository, pull = find_pull(state, repo, number)
    if pull.closed_at is None or pull.merged_at is not None:
        raise RefusedError(422, f"Pull request {number} cannot be reopened")
    pull.closed_at = None
    return _announce(state, repository, pull, "reopened")


def push(
    state: DevGitHub, repo: str, ref: str, *, before: str, after: str, author: str = "contributor"
) -> list[Delivery]:
    """Move a full ref (`refs/heads/main`, `refs/tags/...`) between two revisions; an all-zero `before` makes it, an
    all-zero `after` deletes it. Raises RefusedError as `open_pull`."""
    repository = state.repository(repo)
    tip = None if after == ZERO_SHA else _commit(repository, after)
    before = before if before == ZERO_SHA else _commit(repository, before).sha
    after = ZERO_SHA if tip is None else tip.sha
    if isinstance(repository.source, MemorySource):
        repository.source.refs[ref.removeprefix("refs/heads/").removeprefix("refs/tags/")] = after
    commits = [] if tip is None else _pushed(repository, before, tip)
    bodies = [pushed_commit(state, repository, each) for each in commits]
    payload = {
        "ref": ref,
        "before": before,
        "after": after,
        "repository": _pushed_repository(state, repository),
        "pusher": {"name": author, "email": f"{author}@users.noreply.github.com"},
        "sender": user(state, author),
        "created": before == ZERO_SHA,
        "deleted": after == ZERO_SHA,
        "forced": False,
        "base_ref": None,
        "compare": web_url(state, repository, f"/compare/{before[:12]}...{after[:12]}"),
        "commits": bodies,
        "head_commit": bodies[-1] if bodies else None,
    }
    return state.announce(repository, "push", payload)


def find_pull(state: DevGitHub, repo: str, number: int) -> tuple[Repository, Pull]:
    """A pull request. Raises RefusedError 404."""
    repository = state.repository(repo)
    pull = repository.pulls.get(number)
    if pull is None:
        raise not_found()
    return repository, pull


def _announce(state: DevGitHub, repository: Repository, pull: Pull, action: str, **more: Any) -> list[Delivery]:
    pull.updated_at = state.now()
    payload = {
        "action": action,
        "number": pull.number,
        "pull_request": full_pull(state, repository, pull),
        **more,
        "repository": full_repository(state, repository),
        "sender": user(state, pull.author),
    }
    return state.announce(repository, "pull_request", payload)


def _commit(repository: Repository, revision: str) -> Commit:
    found = repository.source.commit(revision)
    if found is None and isinstance(repository.source, MemorySource):
        found = _told(repository.source, revision)
    if found is None:
        raise RefusedError(422, f"No commit found for SHA: {revision}")
    return found


def _told(source: MemorySource, revision: str) -> Commit | None:
    """Memory takes a SHA at its word; a branch nobody described begins with a commit of its own."""
    if len(revision) == 40:
        return source.add(Commit(revision, f"Commit {revision[:7]}"))
    if revision in source.refs:
        return None
    sha = f"{len(source.refs) + 1:x}".rjust(40, "b")
    source.refs[revision] = sha
    return source.add(Commit(sha, f"Tip of {revision}"))


def _pushed(repository: Repository, before: str, tip: Commit) -> list[Commit]:
    """The pushed commits, the oldest first, at most the 2,048 that GitHub puts into an event."""
    found = [] if before == ZERO_SHA else list(repository.source.between(before, tip.sha))
    return (found or [tip])[-2_048:]


def _pushed_repository(state: DevGitHub, repository: Repository) -> dict[str, Any]:
    """The repository of a `push` has two of its times as numbers, and two names of its own."""
    created = int(repository.created_at.timestamp())
    return {
        **full_repository(state, repository),
        "created_at": created,
        "pushed_at": created,
        "stargazers": 0,
        "master_branch": repository.default_branch,
    }
