"""The JSON of accounts, repositories, commits and apps, as GitHub writes it.

Source: https://docs.github.com/en/rest (2022-11-28). A test holds every answer to GitHub's own description of it.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Any
from zlib import crc32

from relay.devgithub.records import App, Installation, Repository
from relay.devgithub.sources import Commit
from relay.devgithub.state import DevGitHub

Json = dict[str, Any]

# Key -> what follows the repository's API address; braces are GitHub's own URI templates (RFC 6570).
_REPOSITORY_URLS = {
    "archive_url": "/{archive_format}{/ref}",
    "assignees_url": "/assignees{/user}",
    "blobs_url": "/git/blobs{/sha}",
    "branches_url": "/branches{/branch}",
    "collaborators_url": "/collaborators{/collaborator}",
    "comments_url": "/comments{/number}",
    "commits_url": "/commits{/sha}",
    "compare_url": "/compare/{base}...{head}",
    "contents_url": "/contents/{+path}",
    "contributors_url": "/contributors",
    "deployments_url": "/deployments",
    "downloads_url": "/downloads",
    "events_url": "/events",
    "forks_url": "/forks",
    "git_commits_url": "/git/commits{/sha}",
    "git_refs_url": "/git/refs{/sha}",
    "git_tags_url": "/git/tags{/sha}",
    "hooks_url": "/hooks",
    "issue_comment_url": "/issues/comments{/number}",
    "issue_events_url": "/issues/events{/number}",
    "issues_url": "/issues{/number}",
    "keys_url": "/keys{/key_id}",
    "labels_url": "/labels{/name}",
    "languages_url": "/languages",
    "merges_url": "/merges",
    "milestones_url": "/milestones{/number}",
    "notifications_url": "/notifications{?since,all,participating}",
    "pulls_url": "/pulls{/number}",
    "releases_url": "/releases{/id}",
    "stargazers_url": "/stargazers",
    "statuses_url": "/statuses/{sha}",
    "subscribers_url": "/subscribers",
    "subscription_url": "/subscription",
    "tags_url": "/tags",
    "teams_url": "/teams",
    "trees_url": "/git/trees{/sha}",
}
_USER_URLS = {
    "followers_url": "/followers",
    "following_url": "/following{/other_user}",
    "gists_url": "/gists{/gist_id}",
    "starred_url": "/starred{/owner}{/repo}",
    "subscriptions_url": "/subscriptions",
    "organizations_url": "/orgs",
    "repos_url": "/repos",
    "events_url": "/events{/privacy}",
    "received_events_url": "/received_events",
}


def moment(at: datetime) -> str:
    """A time as GitHub writes it: whole seconds, `Z`."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def maybe_moment(at: datetime | None) -> str | None:
    """The same of a time that may not have come."""
    return None if at is None else moment(at)


def node_id(kind: str, number: int) -> str:
    """The global id of a thing, which means something to GitHub only."""
    return base64.b64encode(f"{kind}{number}".encode()).decode()


def api_url(state: DevGitHub, repository: Repository, rest: str = "") -> str:
    """An address of the API."""
    return f"{state.url}/repos/{repository.full_name}{rest}"


def web_url(state: DevGitHub, repository: Repository, rest: str = "") -> str:
    """An address of a page."""
    return f"{state.url}/{repository.full_name}{rest}"


def user(state: DevGitHub, login: str) -> Json:
    """`simple-user`."""
    number = crc32(login.encode())
    own = f"{state.url}/users/{login}"
    return {
        "login": login,
        "id": number,
        "node_id": node_id("U", number),
        "avatar_url": f"{state.url}/avatars/{login}",
        "gravatar_id": "",
        "url": own,
        "html_url": f"{state.url}/{login}",
        **{key: own + rest for key, rest in _USER_URLS.items()},
        "type": "User",
        "site_admin": False,
    }


def minimal_repository(state: DevGitHub, repository: Repository) -> Json:
    """`minimal-repository`."""
    own = api_url(state, repository)
    return {
        "id": repository.id,
        "node_id": node_id("R", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.private,
        "owner": user(state, repository.owner),
        "html_url": web_url(state, repository),
        "description": None,
        "fork": False,
        "url": own,
        **{key: own + rest for key, rest in _REPOSITORY_URLS.items()},
    }


def full_repository(state: DevGitHub, repository: Repository) -> Json:
    """`repository`, as webhooks and `GET /repos/{owner}/{repo}` have it."""
    created, page = moment(repository.created_at), web_url(state, repository)
    counts = ("size", "stargazers_count", "watchers_count", "forks_count", "forks", "watchers")
    return {
        **minimal_repository(state, repository),
        "created_at": created,
        "updated_at": created,
        "pushed_at": created,
        "git_url": f"git://github.test/{repository.full_name}.git",
        "ssh_url": f"git@github.test:{repository.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "homepage": None,
        "language": "Python",
        "mirror_url": None,
        "license": None,
        **dict.fromkeys(counts, 0),
        "open_issues_count": len(repository.pulls),
        "open_issues": len(repository.pulls),
        **dict.fromkeys(("has_issues", "has_projects", "has_downloads", "has_wiki"), True),
        **dict.fromkeys(("has_pages", "has_discussions", "archived", "disabled", "is_template"), False),
        "allow_forking": True,
        "web_commit_signoff_required": False,
        "topics": [],
        "visibility": "private" if repository.private else "public",
        "default_branch": repository.default_branch,
    }


def app(state: DevGitHub, of: App) -> Json:
    """`integration`."""
    return {
        "id": of.id,
        "slug": of.slug,
        "node_id": node_id("A", of.id),
        "owner": user(state, of.owner),
        "name": of.slug,
        "description": "",
        "external_url": f"{state.url}/apps/{of.slug}",
        "html_url": f"{state.url}/apps/{of.slug}",
        "created_at": moment(of.created_at),
        "updated_at": moment(of.created_at),
        "permissions": of.permissions,
        "events": sorted(of.events),
    }


def installation(state: DevGitHub, of: Installation) -> Json:
    """`installation`."""
    made = moment(of.created_at)
    return {
        "id": of.id,
        "account": user(state, of.owner),
        "repository_selection": "selected",
        "access_tokens_url": f"{state.url}/app/installations/{of.id}/access_tokens",
        "repositories_url": f"{state.url}/installation/repositories",
        "html_url": f"{state.url}/settings/installations/{of.id}",
        "app_id": of.app.id,
        "app_slug": of.app.slug,
        "target_id": crc32(of.owner.encode()),
        "target_type": "Organization",
        "permissions": of.app.permissions,
        "events": sorted(of.app.events),
        "created_at": made,
        "updated_at": made,
        "single_file_name": None,
        "has_multiple_single_files": False,
        "single_file_paths": [],
        "suspended_by": None,
        "suspended_at": None,
    }


def commit(state: DevGitHub, repository: Repository, of: Commit) -> Json:
    """`commit` without its files."""
    own = f"/commits/{of.sha}"
    person = {"name": of.author, "email": of.email, "date": moment(of.at)}
    account = user(state, of.author.replace(" ", "-"))
    return {
        "sha": of.sha,
        "node_id": f"C_{of.sha}",
        "commit": {
            "author": person,
            "committer": person,
            "message": of.message,
            "tree": {"sha": of.tree, "url": api_url(state, repository, f"/git/trees/{of.tree}")},
            "url": api_url(state, repository, f"/git/commits/{of.sha}"),
            "comment_count": 0,
        },
        "url": api_url(state, repository, own),
        "html_url": web_url(state, repository, f"/commit/{of.sha}"),
        "comments_url": api_url(state, repository, f"{own}/comments"),
        "author": account,
        "committer": account,
        "parents": [
            {"sha": sha, "url": api_url(state, repository, f"/commits/{sha}"), "html_url": web_url(state, repository)}
            for sha in of.parents
        ],
    }


def pushed_commit(state: DevGitHub, repository: Repository, of: Commit) -> Json:
    """A commit in a `push` event."""
    person = {"name": of.author, "email": of.email, "username": of.author.replace(" ", "-")}
    return {
        "id": of.sha,
        "tree_id": of.tree,
        "distinct": True,
        "message": of.message,
        "timestamp": of.at.isoformat(timespec="seconds"),
        "url": web_url(state, repository, f"/commit/{of.sha}"),
        "author": person,
        "committer": person,
        "added": [],
        "removed": [],
        "modified": [],
    }
