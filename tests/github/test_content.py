"""Files, commits, comparisons and pull requests over HTTP."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from relay.devgithub import App, GitSource, MemorySource, close_pull, open_pull, synchronize_pull
from tests.github.client import BASE, HEAD, NEXT, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub
from tests.relay.devgithub.repositories import commit, git, repository

RAW, DIFF = "application/vnd.github.raw+json", "application/vnd.github.diff"
HUGE = "x" * 1_048_577


@pytest.fixture
def memory(served: ServedGitHub, app: App) -> MemorySource:
    """The upstream's content."""
    source = served.state.repository(UPSTREAM).source
    assert isinstance(source, MemorySource)
    source.files.update({".github/allowlist.yml": "L1: []\n", "huge": HUGE})
    return source


@pytest.fixture
def clone(served: ServedGitHub, app: App, tmp_path: Path) -> Path:
    """The upstream as a git repository: main, and a branch `my/topic` that left it."""
    folder = repository(tmp_path / "clone")
    commit(folder, "Base", kept="1\n", sub__gone="x\n")
    git(folder, "switch", "--quiet", "-c", "my/topic")
    commit(folder, "Change kept\n\nBecause.", kept="1\n2\n", sub__gone=None, made="y\n")
    git(folder, "switch", "--quiet", "main")
    commit(folder, "Main goes on", other="z\n")
    served.state.repository(UPSTREAM).source = GitSource(folder)
    return folder


def test_a_file_is_read_raw_and_in_json(client: GitHubClient, memory: MemorySource) -> None:
    path = "/contents/.github/allowlist.yml?ref=main"
    raw = client.request("GET", UPSTREAM, path, accept=RAW)
    assert (raw.text, raw.headers["content-type"]) == ("L1: []\n", "application/vnd.github.raw; charset=utf-8")
    old_form = client.request("GET", UPSTREAM, path, accept="application/vnd.github.v3.raw")
    assert old_form.text == raw.text
    whole = client.request("GET", UPSTREAM, path).json()
    assert base64.b64decode(whole["content"]).decode() == raw.text
    assert client.anonymous("GET", f"/repos/{UPSTREAM}{path}").json()["sha"] == whole["sha"]


def test_a_file_is_sent_once(client: GitHubClient, memory: MemorySource) -> None:
    """The same ETag until the content changes; raw and JSON have each their own."""
    path = "/contents/.github/allowlist.yml"
    first = client.request("GET", UPSTREAM, path, accept=RAW)
    etag = first.headers["etag"]
    same = client.request("GET", UPSTREAM, path, accept=RAW, headers={"If-None-Match": etag})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", etag)
    assert client.request("GET", UPSTREAM, path, headers={"If-None-Match": etag}).status_code == 200
    memory.files[".github/allowlist.yml"] = "L2: []\n"
    changed = client.request("GET", UPSTREAM, path, accept=RAW, headers={"If-None-Match": etag})
    assert (changed.status_code, changed.text) == (200, "L2: []\n")


def test_a_huge_file_is_in_the_raw_form_only(client: GitHubClient, memory: MemorySource) -> None:
    whole = client.request("GET", UPSTREAM, "/contents/huge").json()
    assert (whole["content"], whole["encoding"], whole["size"]) == ("", "none", len(HUGE))
    assert len(client.request("GET", UPSTREAM, "/contents/huge", accept=RAW).content) == len(HUGE)


def test_a_private_file_is_for_the_installed(client: GitHubClient, served: ServedGitHub, memory: MemorySource) -> None:
    served.state.repository(UPSTREAM).private = True
    assert client.request("GET", UPSTREAM, "/contents/huge").status_code == 200
    assert client.anonymous("GET", f"/repos/{UPSTREAM}/contents/huge").status_code == 404
    assert client.request("GET", UPSTREAM, "/contents/nope").status_code == 404


def test_a_commit_is_found_by_sha_branch_and_tag(client: GitHubClient, clone: Path) -> None:
    git(clone, "tag", "v1", "my/topic")
    sha = git(clone, "rev-parse", "v1")
    for ref in (sha, "my/topic", "v1"):
        found = client.request("GET", UPSTREAM, f"/commits/{ref}").json()
        assert (found["sha"], found["commit"]["message"]) == (sha, "Change kept\n\nBecause.")
    assert found["stats"] == {"additions": 2, "deletions": 1, "total": 3}
    assert client.request("GET", UPSTREAM, "/commits/v1", accept="application/vnd.github.sha").text == sha
    assert "+2\n" in client.request("GET", UPSTREAM, "/commits/v1", accept=DIFF).text
    assert client.request("GET", UPSTREAM, f"/commits/{'e' * 40}").status_code == 422


def test_a_comparison_is_from_where_the_branches_parted(client: GitHubClient, clone: Path) -> None:
    path = "/compare/main...my/topic"
    whole = client.request("GET", UPSTREAM, path).json()
    assert (whole["status"], whole["ahead_by"], whole["behind_by"]) == ("diverged", 1, 1)
    assert {each["filename"]: each["status"] for each in whole["files"]} == {
        "kept.txt": "modified",
        "made.txt": "added",
        "sub/gone.txt": "removed",
    }
    difference = client.request("GET", UPSTREAM, path, accept=DIFF)
    assert difference.text.startswith("diff --git a/kept.txt b/kept.txt\n")
    assert client.request("GET", UPSTREAM, "/compare/main...nope").status_code == 404
    assert client.request("GET", UPSTREAM, "/compare/main..my/topic").status_code == 404
    standing = {
        ends: client.request("GET", UPSTREAM, f"/compare/{ends}").json()["status"]
        for ends in ("main~1...main", "main...main~1", "main...main")
    }
    assert standing == {"main~1...main": "ahead", "main...main~1": "behind", "main...main": "identical"}


def test_a_pull_request_is_shown_with_its_counts_and_its_difference(
    client: GitHubClient, served: ServedGitHub, clone: Path
) -> None:
    pull, _ = open_pull(served.state, UPSTREAM, head="my/topic", base="main")
    whole = client.request("GET", UPSTREAM, f"/pulls/{pull.number}").json()
    assert (whole["title"], whole["head"]["sha"]) == ("Change kept", git(clone, "rev-parse", "my/topic"))
    assert (whole["commits"], whole["changed_files"], whole["additions"], whole["deletions"]) == (1, 3, 2, 1)
    difference = client.request("GET", UPSTREAM, f"/pulls/{pull.number}", accept=DIFF).text
    assert difference == client.request("GET", UPSTREAM, "/compare/main...my/topic", accept=DIFF).text
    assert client.anonymous("GET", whole["diff_url"]).text == difference
    assert client.request("GET", UPSTREAM, "/pulls/99").status_code == 404


def test_pull_requests_are_listed_in_the_order_that_is_asked_for(
    client: GitHubClient, served: ServedGitHub, memory: MemorySource
) -> None:
    for sha in (HEAD, BASE, NEXT):
        open_pull(served.state, UPSTREAM, head=sha)
    synchronize_pull(served.state, UPSTREAM, 2, HEAD)
    close_pull(served.state, UPSTREAM, 3)

    def numbers(query: str) -> list[int]:
        return [each["number"] for each in client.request("GET", UPSTREAM, f"/pulls?{query}").json()]

    assert numbers("per_page=100") == [2, 1]
    assert numbers("state=all&sort=created&direction=asc") == [1, 2, 3]
    assert numbers("state=closed") == [3]
    assert numbers("state=all&base=elsewhere") == []
    assert numbers("state=all&per_page=1&page=2") == [2]
    assert numbers("sort=updated&direction=desc") == [2, 1]


def test_the_repository_itself_is_shown(client: GitHubClient, memory: MemorySource) -> None:
    assert client.request("GET", UPSTREAM, "").json()["full_name"] == UPSTREAM
    assert client.anonymous("GET", "/repos/no/such").status_code == 404
