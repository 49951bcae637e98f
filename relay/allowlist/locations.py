"""Where a list is kept: a file in a repository, named as its page on GitHub, or a file on this machine.

Pure: it reads addresses, never what they name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from relay.allowlist.entry import repo_name
from relay.allowlist.types import repo_key

#: Where pages of repositories are; another one is a GitHub of one's own.
GITHUB_WEB = "https://github.com"
_BLOB = "blob"
_EXPECTED = "write <github>/<owner>/<name>/blob/<ref>/<path>, or file:<path> for a list on this machine"


class LocationError(ValueError):
    """The address names no list. Its text is not quoted: it may hold a password."""


@dataclass(frozen=True, slots=True)
class BlobLocation:
    """A file of a repository at a branch, tag or commit. In the address a slash in `ref` is written %2F."""

    repo: str
    ref: str
    path: str

    def is_changed_by(self, paths: Sequence[str], repo: str, ref: str) -> bool:
        """Whether a push to `ref` (as git names it) of `repo` that touches `paths` changes this file."""
        same_ref = ref in (self.ref, f"refs/heads/{self.ref}", f"refs/tags/{self.ref}")
        return same_ref and repo_key(repo) == repo_key(self.repo) and self.path in paths


@dataclass(frozen=True, slots=True)
class FileLocation:
    """A file on this machine."""

    path: Path


Location = BlobLocation | FileLocation


def parse_location(url: str, web: str = GITHUB_WEB) -> Location:
    """The place an address names; `web` is the GitHub whose pages count, by http or https.

    Raises:
        LocationError: it is neither a file's page there nor a file on this machine.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise LocationError(f"cannot be read; {_EXPECTED}") from error
    if parts.query or parts.fragment:
        raise LocationError(f"has a part after ? or #; {_EXPECTED}")
    return _file(parts) if parts.scheme == "file" else _blob(parts, urlsplit(web).netloc)


def _file(parts: SplitResult) -> FileLocation:
    if parts.netloc not in ("", "localhost") or not parts.path.strip("/"):
        raise LocationError(f"names no file of this machine; {_EXPECTED}")
    return FileLocation(Path(unquote(parts.path)).absolute())


def _blob(parts: SplitResult, host: str) -> BlobLocation:
    if parts.scheme not in ("http", "https") or parts.netloc.lower() != host.lower():
        raise LocationError(f"is no page of {host}; {_EXPECTED}")
    owner, name, kind, ref, *path = [unquote(part) for part in (*parts.path.split("/")[1:], "", "", "", "")]
    repo = repo_name(f"{owner}/{name}")
    inside = "/".join(path).rstrip("/")
    if repo is None or kind != _BLOB or not ref or not inside or {"", ".", ".."} & {ref, *inside.split("/")}:
        raise LocationError(f"names no file; {_EXPECTED}")
    return BlobLocation(repo, ref, inside)
