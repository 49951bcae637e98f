"""Addresses of lists: pages of files on one's GitHub, files of this machine, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.allowlist.locations import BlobLocation, FileLocation, LocationError, parse_location

PAGE = "https://github.com/pytorch/pytorch/blob/main/.github/allowlist.yml"
PLACE = BlobLocation("pytorch/pytorch", "main", ".github/allowlist.yml")


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (PAGE, PLACE),
        (PAGE.replace("https", "http"), PLACE),
        (PAGE.replace("github.com", "GitHub.com"), PLACE),
        ("https://github.com/a/b/blob/viable%2Fstrict/x%20y.yml", BlobLocation("a/b", "viable/strict", "x y.yml")),
        ("file:///etc/relay/allowlist.yml", FileLocation(Path("/etc/relay/allowlist.yml"))),
        ("file:/etc/a%20list", FileLocation(Path("/etc/a list"))),
        ("file://localhost/etc/list", FileLocation(Path("/etc/list"))),
        ("file:lists/mine.yml", FileLocation(Path("lists/mine.yml").absolute())),
    ],
)
def test_addresses_that_name_a_list(url: str, expected: object) -> None:
    """A page's scheme and letter case of the host do not count; %2F is how a ref gets its slash."""
    assert parse_location(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "allowlist.yml",
        "/etc/allowlist.yml",
        "ftp://github.com/a/b/blob/main/x",
        "https://raw.githubusercontent.com/pytorch/pytorch/main/.github/allowlist.yml",
        "https://github.com.evil.example/a/b/blob/main/x",
        "https://user:password@github.com/a/b/blob/main/x",
        "https://github.com/a/b/tree/main/x",
        "https://github.com/a/b/raw/main/x",
        "https://github.com/a/b/blob/main",
        "https://github.com/a/b/blob/main/",
        "https://github.com/a/b/blob//x",
        "https://github.com/a/b/blob/main/x/../y",
        "https://github.com/a/b/blob/main/x//y",
        "https://github.com/a/b%2Fc/blob/main/x",
        "https://github.com/a",
        f"{PAGE}?plain=1",
        f"{PAGE}#L5",
        "https://[github.com/a/b/blob/main/x",
        "file:",
        "file:///",
        "file://elsewhere/etc/list",
    ],
)
def test_addresses_that_name_none(url: str) -> None:
    """Refused with what to write instead, and without repeating what may hold a password."""
    with pytest.raises(LocationError) as caught:
        parse_location(url)
    assert "blob/<ref>/<path>" in str(caught.value)
    assert "password" not in str(caught.value)


def test_a_github_of_ones_own() -> None:
    """Then its pages count, and the public ones do not."""
    own = "http://127.0.0.1:3000"
    assert parse_location(f"{own}/a/b/blob/main/x", own) == BlobLocation("a/b", "main", "x")
    with pytest.raises(LocationError):
        parse_location(PAGE, own)


@pytest.mark.parametrize("ref", ["main", "refs/heads/main", "refs/tags/main"])
def test_a_push_that_changes_the_file(ref: str) -> None:
    """By repository, ref and path."""
    assert PLACE.is_changed_by(["README.md", ".github/allowlist.yml"], "PyTorch/pytorch", ref)


@pytest.mark.parametrize(
    ("paths", "repo", "ref"),
    [
        ([], "pytorch/pytorch", "refs/heads/main"),
        (["allowlist.yml"], "pytorch/pytorch", "refs/heads/main"),
        ([".github/allowlist.yml"], "pytorch/test-infra", "refs/heads/main"),
        ([".github/allowlist.yml"], "pytorch/pytorch", "refs/heads/gh/main"),
        ([".github/allowlist.yml"], "pytorch/pytorch", "refs/heads/other"),
    ],
)
def test_a_push_that_does_not(paths: list[str], repo: str, ref: str) -> None:
    """Another path, repository or branch."""
    assert not PLACE.is_changed_by(paths, repo, ref)
