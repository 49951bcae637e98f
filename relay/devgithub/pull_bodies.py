"""The JSON of pull requests: one form for lists, a longer one for a single pull request and for events."""

from __future__ import annotations

from zlib import crc32

from relay.devgithub.bodies import Json, api_url, full_repository, maybe_moment, moment, node_id, user, web_url
from relay.devgithub.comparisons import changed_files
from relay.devgithub.records import Pull, Repository
from relay.devgithub.state import DevGitHub


def simple_pull(state: DevGitHub, repository: Repository, of: Pull) -> Json:
    """`pull-request-simple`."""
    own, page = api_url(state, repository, f"/pulls/{of.number}"), web_url(state, repository, f"/pull/{of.number}")
    issue = api_url(state, repository, f"/issues/{of.number}")
    statuses = api_url(state, repository, f"/statuses/{of.head_sha}")
    links = {
        "self": own,
        "html": page,
        "issue": issue,
        "comments": f"{issue}/comments",
        "review_comments": f"{own}/comments",
        "review_comment": api_url(state, repository, "/pulls/comments{/number}"),
        "commits": f"{own}/commits",
        "statuses": statuses,
    }
    return {
        "url": own,
        "id": of.id,
        "node_id": node_id("PR", of.id),
        "html_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "issue_url": issue,
        "commits_url": links["commits"],
        "review_comments_url": links["review_comments"],
        "review_comment_url": links["review_comment"],
        "comments_url": links["comments"],
        "statuses_url": statuses,
        "number": of.number,
        "state": of.state,
        "locked": False,
        "title": of.title,
        "user": user(state, of.author),
        "body": of.body or None,
        "labels": [label(state, repository, name) for name in of.labels],
        "milestone": None,
        "created_at": moment(of.created_at),
        "updated_at": moment(of.updated_at),
        "closed_at": maybe_moment(of.closed_at),
        "merged_at": maybe_moment(of.merged_at),
        "merge_commit_sha": of.merge_commit_sha,
        "assignee": None,
        "assignees": [],
        "requested_reviewers": [],
        "requested_teams": [],
        "head": _end(state, repository, of.head_ref, of.head_sha),
        "base": _end(state, repository, of.base_ref, of.base_sha),
        "_links": {name: {"href": link} for name, link in links.items()},
        "author_association": "CONTRIBUTOR",
        "auto_merge": None,
        "active_lock_reason": None,
        "draft": of.draft,
    }


def full_pull(state: DevGitHub, repository: Repository, of: Pull) -> Json:
    """`pull-request`, as `GET /repos/{owner}/{repo}/pulls/{pull_number}` and events have it."""
    merged = of.merged_at is not None
    files = changed_files(repository.source, of.base_sha, of.head_sha)
    return {
        **simple_pull(state, repository, of),
        "merged": merged,
        "mergeable": None,
        "rebaseable": None,
        "mergeable_state": "unknown",
        "merged_by": user(state, repository.owner) if merged else None,
        "comments": sum(each.pull is of for each in repository.comments.values()),
        "review_comments": 0,
        "maintainer_can_modify": False,
        "commits": max(1, len(repository.source.between(of.base_sha, of.head_sha))),
        "additions": sum(file.additions for file in files),
        "deletions": sum(file.deletions for file in files),
        "changed_files": len(files),
    }


def label(state: DevGitHub, repository: Repository, name: str) -> Json:
    """`label`."""
    number = crc32(name.encode())
    return {
        "id": number,
        "node_id": node_id("LA", number),
        "url": api_url(state, repository, f"/labels/{name}"),
        "name": name,
        "description": "",
        "color": "ededed",
        "default": False,
    }


def _end(state: DevGitHub, repository: Repository, ref: str, sha: str) -> Json:
    return {
        "label": f"{repository.owner}:{ref}",
        "ref": ref,
        "sha": sha,
        "user": user(state, repository.owner),
        "repo": full_repository(state, repository),
    }
