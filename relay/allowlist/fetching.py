"""How the text of a list is had: from this machine, as our App, or anonymously through GitHub's contents API.

Owns the request without an App and what its failures are called. It keeps nothing and judges no text.
Source: https://docs.github.com/en/rest/repos/contents (2022-11-28).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import quote

import httpx

from relay.allowlist.document import MAX_CHARACTERS
from relay.allowlist.locations import GITHUB_WEB, BlobLocation, FileLocation, parse_location
from relay.github.types import FetchedText, GitHubError
from relay.outgoing import ask, open_client

#: A character of UTF-8 takes at most so many bytes.
_MAX_BYTES = 4 * MAX_CHARACTERS
_TIMEOUT_S = 20.0
#: Refusals by which GitHub says that our App may not read there. The file may be public all the same.
_NOT_OURS = (401, 403, 404)

#: Address and the ETag of what is known -> the text, or none when that is still it. Raises GitHubError.
Fetch = Callable[[str, str], FetchedText]


class Contents(Protocol):
    """The part of GitHub that is needed here."""

    def text(self, repo: str, path: str, ref: str, etag: str = "") -> FetchedText:
        """A file of a repository, conditional."""
        ...


@dataclass(frozen=True, slots=True)
class TextSource:
    """Fetches lists. `github` is our App, if there is one; `transport` replaces the network."""

    web_url: str = GITHUB_WEB
    api_url: str = "https://api.github.com"
    github: Contents | None = None
    transport: httpx.BaseTransport | None = field(default=None, repr=False)

    def fetch(self, url: str, etag: str = "") -> FetchedText:
        """The text at an address, or none when `etag` is still its own.

        Raises:
            GitHubError: it cannot be had; the message says why.
            LocationError: the address names no list.
        """
        location = parse_location(url, self.web_url)
        if isinstance(location, FileLocation):
            return _local(location, etag)
        if self.github is None:
            return self._anonymous(location, etag)
        try:
            return self.github.text(location.repo, location.path, location.ref, etag)
        except GitHubError as error:
            if error.passing or error.status not in _NOT_OURS:
                raise
            return self._anonymous(location, etag)

    def _anonymous(self, location: BlobLocation, etag: str) -> FetchedText:
        address = f"{self.api_url}/repos/{location.repo}/contents/{quote(location.path)}"
        headers = {"Accept": "application/vnd.github.raw+json", "X-GitHub-Api-Version": "2022-11-28"}
        if etag:
            headers["If-None-Match"] = etag
        with open_client(self.api_url, timeout_s=_TIMEOUT_S, transport=self.transport) as client:
            request = client.build_request("GET", address, params={"ref": location.ref}, headers=headers)
            try:
                answer = ask(client, request, _MAX_BYTES)
            except httpx.HTTPError as error:
                raise GitHubError(f"{location.path} of {location.repo}: no answer ({type(error).__name__})") from error
        if answer.status == 304 and etag:
            return FetchedText(None, etag)
        if answer.status != 200:
            message = f"{location.path} of {location.repo} at {location.ref}: GitHub answered {answer.status}"
            raise GitHubError(message, status=answer.status, retry_after_s=_pause(answer.headers))
        return FetchedText(_decoded(answer.body), answer.headers.get("etag", ""))


def _local(location: FileLocation, etag: str) -> FetchedText:
    try:
        with location.path.open("rb") as file:
            body = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise GitHubError(f"{location.path}: {error.strerror or type(error).__name__}") from error
    digest = hashlib.sha256(body).hexdigest()
    return FetchedText(None if digest == etag else _decoded(body), digest)


def _decoded(body: bytes) -> str:
    """The text; bytes that are no UTF-8 stay visible as such to whoever reads it and says so."""
    return body.decode("utf-8-sig", errors="surrogateescape")


def _pause(headers: httpx.Headers) -> float | None:
    """How long GitHub asks us to stay away, in seconds, when this is its rate limit."""
    if (after := headers.get("retry-after", "")).isdecimal():
        return float(after)
    reset = headers.get("x-ratelimit-reset", "")
    if headers.get("x-ratelimit-remaining") == "0" and reset.isdecimal():
        return max(0.0, float(reset) - time.time())
    return None
