"""Routes of what a repository holds: files, commits, comparisons, pull requests.

Source: https://docs.github.com/en/rest/repos/contents, /commits/commits, /pulls/pulls
"""

from __future__ import annotations

import base64
from typing import Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request, Response
from fastapi.responses import JSONResponse

from relay.devgithub import bodies
from relay.devgithub.access import CallerOf, RepositoryOf, State
from relay.devgithub.bodies import Json, api_url, web_url
from relay.devgithub.comparisons import ChangedFile, changed_files, three_dot_diff
from relay.devgithub.paging import PageNumber, PageSize, page_of
from relay.devgithub.pull_bodies import full_pull, simple_pull
from relay.devgithub.pulls import find_pull
from relay.devgithub.records import Pull, RefusedError, Repository, not_found
from relay.devgithub.sources import Commit, blob_sha
from relay.devgithub.state import DevGitHub

router = APIRouter(prefix="/repos/{owner}/{repo}")
pages = APIRouter()
Accept = Annotated[str, Header()]

#: Beyond this GitHub's JSON leaves the content out, and only the raw form has it.
_JSON_CONTENT_CAP = 1_048_576
_COMPARED_FILES_CAP = 300
_RAW, _DIFF = ("raw",), ("diff",)


@router.get("")
def get_repository(repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """The repository."""
    caller.check(repository, "metadata")
    return {
        **bodies.full_repository(state, repository),
        "subscribers_count": 0,
        "network_count": 0,
    }


@router.get("/contents/{path:path}", response_model=None)
def get_content(
    path: str,
    repository: RepositoryOf,
    caller: CallerOf,
    state: State,
    *,
    ref: str = "",
    accept: Accept = "",
    if_none_match: Annotated[str, Header()] = "",
) -> Response:
    """A file, raw or in JSON; 304 when the caller has it."""
    caller.check(repository, "contents")
    revision = ref or repository.default_branch
    content = repository.source.read(revision, path)
    if content is None:
        raise not_found()
    raw = _asks(accept, _RAW)
    etag = f'W/"{blob_sha(content)}{"-raw" if raw else ""}"'
    headers = {"ETag": etag, "Cache-Control": "public, max-age=60, s-maxage=60"}
    if etag in [each.strip() for each in if_none_match.split(",")]:
        return Response(status_code=304, headers=headers)
    if raw:
        return Response(content, headers=headers, media_type="application/vnd.github.raw; charset=utf-8")
    return JSONResponse(_file(state, repository, path, revision, content), headers=headers)


@router.get("/commits/{ref:path}", response_model=None)
def get_commit(ref: str, repository: RepositoryOf, caller: CallerOf, state: State, accept: Accept = "") -> Response:
    """A commit by SHA, branch or tag, as JSON or as its difference from its first parent."""
    caller.check(repository, "contents")
    found = repository.source.commit(ref)
    if found is None:
        raise RefusedError(422, f"No commit found for SHA: {ref}")
    parent = found.parents[0] if found.parents else found.sha
    if _asks(accept, _DIFF):
        return _text_of(repository.source.diff(parent, found.sha) or "")
    if _asks(accept, ("sha",)):
        return Response(found.sha, media_type="application/vnd.github.sha; charset=utf-8")
    files = [_entry(state, repository, each, found) for each in changed_files(repository.source, parent, found.sha)]
    total = {name: sum(each[name] for each in files) for name in ("additions", "deletions")}
    stats = {**total, "total": sum(total.values())}
    return JSONResponse({**bodies.commit(state, repository, found), "stats": stats, "files": files})


@router.get("/compare/{basehead:path}", response_model=None)
def compare(basehead: str, repository: RepositoryOf, caller: CallerOf, state: State, accept: Accept = "") -> Response:
    """What `head` changed since it left `base` (`base...head`), as text or as JSON."""
    caller.check(repository, "contents")
    base, separator, head = basehead.partition("...")
    difference = three_dot_diff(repository.source, base, head) if separator else None
    if difference is None:
        raise not_found()
    return _text_of(difference) if _asks(accept, _DIFF) else JSONResponse(_comparison(state, repository, base, head))


@router.get("/pulls")
def list_pulls(
    repository: RepositoryOf,
    caller: CallerOf,
    state: State,
    request: Request,
    response: Response,
    *,
    which: Annotated[Literal["open", "closed", "all"], Query(alias="state")] = "open",
    sort: Literal["created", "updated", "popularity", "long-running"] = "created",
    direction: Literal["asc", "desc"] | None = None,
    base: str = "",
    head: str = "",
    page: PageNumber = 1,
    per_page: PageSize = 30,
) -> list[Json]:
    """Pull requests. By creation the newest come first, by anything else the oldest, unless a direction is given."""
    caller.check(repository, "pull_requests")
    kept = [each for each in repository.pulls.values() if which in ("all", each.state) and base in ("", each.base_ref)]
    kept = [each for each in kept if head in ("", f"{repository.full_name.partition('/')[0]}:{each.head_ref}")]
    falling = direction == "desc" or (direction is None and sort == "created")
    kept.sort(key=lambda each: (each.updated_at if sort == "updated" else each.created_at, each.id), reverse=falling)
    return [simple_pull(state, repository, each) for each in page_of(kept, page, per_page, request, response)]


@router.get("/pulls/{pull_number}", response_model=None)
def get_pull(
    pull_number: int, repository: RepositoryOf, caller: CallerOf, state: State, accept: Accept = ""
) -> Response:
    """A pull request, as JSON or as its difference."""
    caller.check(repository, "pull_requests")
    _, pull = find_pull(state, repository.full_name, pull_number)
    if _asks(accept, _DIFF):
        return _text_of(_difference(repository, pull))
    return JSONResponse(full_pull(state, repository, pull))


@pages.get("/{owner}/{repo}/pull/{number}.diff", response_model=None)
def pull_diff(number: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Response:
    """What a pull request's `diff_url` leads to."""
    caller.check(repository, "contents")
    return _text_of(_difference(repository, find_pull(state, repository.full_name, number)[1]))


def _asks(accept: str, kinds: tuple[str, ...]) -> bool:
    """Whether the caller wants one of GitHub's own media types (`application/vnd.github[.v3].raw[+json]`)."""
    types = [each.partition(";")[0].strip() for each in accept.split(",")]
    forms = {f"application/vnd.github.{version}{kind}" for version in ("", "v3.") for kind in kinds}
    return any(each.removesuffix("+json") in forms for each in types)


def _text_of(difference: str) -> Response:
    return Response(difference, media_type="application/vnd.github.diff; charset=utf-8")


def _difference(repository: Repository, pull: Pull) -> str:
    difference = three_dot_diff(repository.source, pull.base_sha, pull.head_sha)
    if difference is None:
        raise not_found()
    return difference


def _file(state: DevGitHub, repository: Repository, path: str, revision: str, content: bytes) -> Json:
    sha, quoted = blob_sha(content), quote(path)
    own = api_url(state, repository, f"/contents/{quoted}?ref={quote(revision)}")
    git, page = (
        api_url(state, repository, f"/git/blobs/{sha}"),
        web_url(state, repository, f"/blob/{revision}/{quoted}"),
    )
    small = len(content) <= _JSON_CONTENT_CAP
    return {
        "type": "file",
        "encoding": "base64" if small else "none",
        "size": len(content),
        "name": path.rpartition("/")[2],
        "path": path,
        "content": base64.encodebytes(content).decode() if small else "",
        "sha": sha,
        "url": own,
        "git_url": git,
        "html_url": page,
        "download_url": web_url(state, repository, f"/raw/{revision}/{quoted}"),
        "_links": {"self": own, "git": git, "html": page},
    }


def _comparison(state: DevGitHub, repository: Repository, base: str, head: str) -> Json:
    source = repository.source
    ends = source.commit(base), source.commit(head), source.merge_base(base, head)
    if ends[0] is None or ends[1] is None or ends[2] is None:
        raise not_found()
    ahead, behind = source.between(base, head), source.between(head, base) if ends[2] != ends[0] else ()
    page = web_url(state, repository, f"/compare/{base}...{head}")
    files = changed_files(source, base, head)[:_COMPARED_FILES_CAP]
    return {
        "url": api_url(state, repository, f"/compare/{base}...{head}"),
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": bodies.commit(state, repository, ends[0]),
        "merge_base_commit": bodies.commit(state, repository, ends[2]),
        "status": _standing(len(ahead), len(behind)),
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [bodies.commit(state, repository, each) for each in ahead],
        "files": [_entry(state, repository, each, ends[1]) for each in files],
    }


def _standing(ahead: int, behind: int) -> str:
    if ahead and behind:
        return "diverged"
    return "ahead" if ahead else "behind" if behind else "identical"


def _entry(state: DevGitHub, repository: Repository, of: ChangedFile, commit: Commit) -> Json:
    quoted = quote(of.path)
    renamed = {"previous_filename": of.previous} if of.previous else {}
    content = repository.source.read(commit.sha, of.path)
    return {
        "sha": None if content is None else blob_sha(content),
        "filename": of.path,
        "status": of.status,
        "additions": of.additions,
        "deletions": of.deletions,
        "changes": of.additions + of.deletions,
        "blob_url": web_url(state, repository, f"/blob/{commit.sha}/{quoted}"),
        "raw_url": web_url(state, repository, f"/raw/{commit.sha}/{quoted}"),
        "contents_url": api_url(state, repository, f"/contents/{quoted}?ref={commit.sha}"),
        "patch": of.patch,
        **renamed,
    }
