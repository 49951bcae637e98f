"""The JSON of comments, of the issue that every pull request is, and of what a user may in a repository."""

from __future__ import annotations

from relay.devgithub.bodies import Json, api_url, maybe_moment, moment, node_id, user, web_url
from relay.devgithub.bodies import app as app_body
from relay.devgithub.pull_bodies import label
from relay.devgithub.records import Comment, Pull, Repository
from relay.devgithub.state import DevGitHub

_REACTIONS = ("+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes")
_BOT = "[bot]"
_LEVELS = ("pull", "triage", "push", "maintain", "admin")
_ROLES = ("read", "triage", "write", "maintain", "admin")


def writer(state: DevGitHub, login: str) -> Json:
    """`simple-user` of a person or of an app's bot."""
    return user(state, login) | {"type": "Bot" if login.endswith(_BOT) else "User"}


def comment(state: DevGitHub, repository: Repository, of: Comment) -> Json:
    """`issue-comment`."""
    own = api_url(state, repository, f"/issues/comments/{of.id}")
    return {
        "id": of.id,
        "node_id": node_id("IC", of.id),
        "url": own,
        "html_url": web_url(state, repository, f"/pull/{of.pull.number}#issuecomment-{of.id}"),
        "issue_url": api_url(state, repository, f"/issues/{of.pull.number}"),
        "body": of.body,
        "user": writer(state, of.author),
        "created_at": moment(of.created_at),
        "updated_at": moment(of.updated_at),
        "author_association": "NONE" if of.app is not None else "CONTRIBUTOR",
        "performed_via_github_app": None if of.app is None else app_body(state, of.app),
        "reactions": _no_reactions(f"{own}/reactions"),
    }


def issue(state: DevGitHub, repository: Repository, of: Pull) -> Json:
    """The issue in an `issue_comment` event."""
    own, page = api_url(state, repository, f"/issues/{of.number}"), web_url(state, repository, f"/pull/{of.number}")
    return {
        "url": own,
        "repository_url": api_url(state, repository),
        "labels_url": f"{own}/labels{{/name}}",
        "comments_url": f"{own}/comments",
        "events_url": f"{own}/events",
        "html_url": page,
        "id": of.id,
        "node_id": node_id("PR", of.id),
        "number": of.number,
        "title": of.title,
        "user": user(state, of.author),
        "labels": [label(state, repository, name) for name in of.labels],
        "state": of.state,
        "locked": False,
        "assignee": None,
        "assignees": [],
        "milestone": None,
        "comments": sum(each.pull is of for each in repository.comments.values()),
        "created_at": moment(of.created_at),
        "updated_at": moment(of.updated_at),
        "closed_at": maybe_moment(of.closed_at),
        "author_association": "CONTRIBUTOR",
        "active_lock_reason": None,
        "draft": of.draft,
        "pull_request": {
            "url": api_url(state, repository, f"/pulls/{of.number}"),
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": maybe_moment(of.merged_at),
        },
        "body": of.body or None,
        "reactions": _no_reactions(f"{own}/reactions"),
        "timeline_url": f"{own}/timeline",
        "performed_via_github_app": None,
        "state_reason": None,
    }


def permission(state: DevGitHub, login: str, role: str, word: str) -> Json:
    """`repository-collaborator-permission`: the role, and the older word for it."""
    held = _ROLES.index(role) if role in _ROLES else -1
    may = {level: number <= held for number, level in enumerate(_LEVELS)}
    return {
        "permission": word,
        "role_name": role,
        "user": writer(state, login) | {"permissions": may, "role_name": role},
    }


def _no_reactions(url: str) -> Json:
    return {"url": url, "total_count": 0, **dict.fromkeys(_REACTIONS, 0)}
