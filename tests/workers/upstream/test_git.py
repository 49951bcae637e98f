"""Hostile ids, refs and URLs, and the environment git gets."""

from __future__ import annotations

from pathlib import Path

import pytest

from workers.upstream.git import Git, GitError, checked_ref, checked_remote, checked_sha


@pytest.mark.parametrize("text", ["--upload-pack=touch x", "HEAD", "a" * 39, "A" * 40, "a" * 40 + "\n", ""])
def test_only_a_full_object_id_is_an_id(text: str) -> None:
    with pytest.raises(GitError, match="not a full commit id"):
        checked_sha(text)


@pytest.mark.parametrize(
    "text",
    ["--upload-pack=touch x", "refs/heads/--x", "refs/heads/../x", "refs/*", "main", "refs/heads/a:b", "refs/heads/a b",
     "+refs/heads/a", "refs/heads/a.lock", "refs/heads/a\n"],
)  # fmt: skip
def test_options_patterns_and_short_names_are_no_refs(text: str) -> None:
    with pytest.raises(GitError, match="not a full ref name"):
        checked_ref(text)


def test_a_pull_request_ref_is_a_ref() -> None:
    assert checked_ref("refs/pull/7/head") == "refs/pull/7/head"


@pytest.mark.parametrize(
    "url",
    ["ext::sh -c 'touch x'", "--upload-pack=x", "relative/path", "-x", "fd::3", "https://-x", "host:path", "/a\nb"],
)
def test_remote_helpers_options_and_relative_paths_are_no_remotes(url: str) -> None:
    with pytest.raises(GitError, match="RELAY_UPSTREAM_CLONE_URL"):
        checked_remote(url)


@pytest.mark.parametrize("url", ["https://github.com/pytorch/pytorch.git", "/srv/mirror with space", "file:///srv/x"])
def test_ordinary_remotes_are_accepted(url: str) -> None:
    assert checked_remote(url) == url


def test_the_environment_is_made_from_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "secret")
    monkeypatch.setenv("GIT_SSH_COMMAND", "touch x")
    monkeypatch.setenv("GIT_DIR", "/elsewhere")
    environment = Git(tmp_path, tmp_path / "config").environment()
    assert not environment.keys() & {"RELAY_WORKER_TOKEN", "GIT_SSH_COMMAND", "GIT_DIR"}
    assert environment["GIT_TERMINAL_PROMPT"] == "0"
    assert environment["GIT_CONFIG_NOSYSTEM"] == "1"


def test_a_slow_git_is_an_error_that_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="RELAY_GIT_TIMEOUT_S"):
        Git(tmp_path, tmp_path / "config", timeout_s=0.1).output("-c", "alias.wait=!exec sleep 5", "wait")


def test_a_failing_git_says_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(GitError, match=r"git rev-parse failed: .*not a git repository"):
        Git(tmp_path, tmp_path / "config").output("rev-parse", "HEAD")
