"""One request to GitHub's API and its answer: headers, redirects, and every failure as a `GitHubError`.

Knows no endpoint and no credential of its own; those are handed in and never appear in a message.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from importlib.metadata import version
from urllib.parse import urljoin, urlsplit

import httpx

from relay.github.refusals import one_line, refusal
from relay.github.types import GitHubError
from relay.outgoing import Answer, ask, open_client

JSON = "application/vnd.github+json"
API_VERSION = "2022-11-28"
#: A page of a hundred check runs, each with the longest text GitHub takes, has some seven million bytes.
_BODY_CAP = 16 * 1024 * 1024
#: A renamed repository answers with its new address; a chain of renames is short.
_REDIRECTS = 3
#: Done, made, taken for later, nothing to say.
GOOD = (200, 201, 202, 204)
_MOVED = (301, 302, 307, 308)


class Exchange:
    """Requests to the API at `api_url`, each within `timeout_s`; may be used by several threads."""

    def __init__(
        self, api_url: str, *, timeout_s: float, transport: httpx.BaseTransport | None, now: Callable[[], datetime]
    ) -> None:
        self.api_url = api_url.rstrip("/")
        headers = {"User-Agent": f"oot-relay/{version('oot-relay')}", "X-GitHub-Api-Version": API_VERSION}
        self._http = open_client(self.api_url, timeout_s=timeout_s, transport=transport, headers=headers)
        self._now = now

    def request(
        self,
        method: str,
        path: str,
        authorization: str,
        *,
        body: Mapping[str, object] | None = None,
        query: Mapping[str, str | int] | None = None,
        headers: Mapping[str, str] | None = None,
        good: Iterable[int] = GOOD,
    ) -> Answer:
        """The answer, when its status is one of `good`. `path` begins with a slash, or is a whole address.

        Raises:
            GitHubError: it is another, or there is none.
        """
        what = f"{method} {urlsplit(path).path}"
        url = self.api_url + path if path.startswith("/") else path
        sent = {"Accept": JSON, "Authorization": authorization, **(headers or {})}
        content = None if body is None else _encoded(what, body)
        if content is not None:
            sent["Content-Type"] = "application/json"
        try:
            request = self._http.build_request(method, url, content=content, params=query, headers=sent)
            answer = self._followed(request)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            cause = one_line(str(error)) or type(error).__name__
            raise GitHubError(f"GitHub gave no answer to {what}: {cause}") from error
        if answer.status not in good:
            raise refusal(what, answer, self._now())
        return answer

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _followed(self, request: httpx.Request) -> Answer:
        """The answer at the end of a few redirects. The method and the body stay, and so does the server: our
        credential goes nowhere else."""
        for _ in range(_REDIRECTS):
            answer = ask(self._http, request, _BODY_CAP)
            target = urljoin(str(request.url), answer.headers.get("location", ""))
            if answer.status not in _MOVED or _origin(target) != _origin(self.api_url):
                return answer
            headers = {name: value for name, value in request.headers.items() if name not in ("host", "content-length")}
            request = self._http.build_request(request.method, target, content=request.content, headers=headers)
        return ask(self._http, request, _BODY_CAP)


def _encoded(what: str, body: Mapping[str, object]) -> bytes:
    """As short as JSON gets, for GitHub bounds it. Payloads come from outside and may hold half a character."""
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError as error:
        raise GitHubError(f"{what} was not sent: its body cannot be written as JSON", status=422) from error
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(body, separators=(",", ":")).encode()


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc
