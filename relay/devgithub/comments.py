"""Comments on pull requests: who may what, what is written, and the events that tell of it.

A person's comment is delivered at once, an app's soon: its author may be the receiver. GitHub tells an app of its own
comments like of everybody's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from relay.devgithub.bodies import full_repository
from relay.devgithub.comment_bodies import comment as comment_body
from relay.devgithub.comment_bodies import issue, writer
from relay.devgithub.pulls import find_pull
from relay.devgithub.records import App, Comment, Delivery, RefusedError, Repository, not_found
from relay.devgithub.state import DevGitHub

#: GitHub takes no longer text, in characters.
BODY_CAP = 65_536
#: What somebody may as GitHub tells it -> the older word for it.
PERMISSIONS = {"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read"}


def permit(state: DevGitHub, repo: str, login: str, role: str) -> None:
    """Let somebody be a collaborator in this role. Raises RefusedError 404 for an unknown repository."""
    state.repository(repo).collaborators[login.casefold()] = role


def role_of(repository: Repository, login: str) -> str:
    """What somebody may: everybody may read what is public, and the owner may everything."""
    if login.casefold() == repository.owner.casefold():
        return "admin"
    return repository.collaborators.get(login.casefold(), "none" if repository.private else "read")


def say(
    state: DevGitHub, repo: str, number: int, body: str, *, author: str = "contributor"
) -> tuple[Comment, list[Delivery]]:
    """A person writes a comment on a pull request.

    Raises:
        RefusedError: 404 for an unknown repository or pull request, 422 for a text that GitHub does not take.
    """
    repository, pull = find_pull(state, repo, number)
    made = _made(state, repository, Comment(0, pull, author, None, _text(body), state.now(), state.now()))
    return made, state.announce(repository, "issue_comment", _event(state, repository, made, "created"))


def write(state: DevGitHub, repository: Repository, app: App, number: int, body: object) -> Comment:
    """An app writes a comment. Raises as `say`."""
    _, pull = find_pull(state, repository.full_name, number)
    made = Comment(0, pull, f"{app.slug}[bot]", app, _text(body), state.now(), state.now())
    _made(state, repository, made)
    state.announce_later(repository, "issue_comment", _event(state, repository, made, "created"))
    return made


def edit(state: DevGitHub, repository: Repository, app: App, comment_id: int, body: object) -> Comment:
    """An app edits a comment; it may edit everybody's. Raises RefusedError 404 and 422."""
    found = find_comment(repository, comment_id)
    changes = {"body": {"from": found.body}}
    found.body, found.updated_at = _text(body), state.now()
    event = _event(state, repository, found, "edited", changes=changes)
    state.announce_later(repository, "issue_comment", event | {"sender": writer(state, f"{app.slug}[bot]")})
    return found


def delete(state: DevGitHub, repository: Repository, comment_id: int) -> None:
    """Somebody takes a comment away, and nobody hears of it. Raises RefusedError 404."""
    with state.lock:
        del repository.comments[find_comment(repository, comment_id).id]


def find_comment(repository: Repository, comment_id: int) -> Comment:
    """A comment. Raises RefusedError 404."""
    found = repository.comments.get(comment_id)
    if found is None:
        raise not_found()
    return found


def comments_on(repository: Repository, number: int, since: datetime | None) -> Sequence[Comment]:
    """The comments on a pull request, the oldest first, with `since` those that were changed from then on.

    Raises:
        RefusedError: 404 when there is no such pull request.
    """
    if number not in repository.pulls:
        raise not_found()
    of_pull = (each for each in list(repository.comments.values()) if each.pull.number == number)
    return [each for each in of_pull if since is None or each.updated_at >= since]


def _made(state: DevGitHub, repository: Repository, comment: Comment) -> Comment:
    with state.lock:
        comment.id = state.next_id()
        repository.comments[comment.id] = comment
    return comment


def _text(body: object) -> str:
    if not isinstance(body, str) or not body.strip():
        raise RefusedError(422, "Validation Failed: body can't be blank")
    if len(body) > BODY_CAP:
        raise RefusedError(422, f"Validation Failed: body is too long (maximum is {BODY_CAP} characters)")
    return body


def _event(state: DevGitHub, repository: Repository, comment: Comment, action: str, **more: Any) -> dict[str, Any]:
    return {
        "action": action,
        "issue": issue(state, repository, comment.pull),
        "comment": comment_body(state, repository, comment),
        **more,
        "repository": full_repository(state, repository),
        "sender": writer(state, comment.author),
    }
