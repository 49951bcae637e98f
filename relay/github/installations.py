"""Tokens with which the App acts in a repository: asked for once, kept until shortly before they end, never shown.

Each is for one repository only: what leaks of it opens nothing else. Source:
https://docs.github.com/en/rest/apps/apps#create-an-installation-access-token-for-an-app
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from relay.github.answers import MintedToken, Numbered, read
from relay.github.exchange import GOOD, Exchange
from relay.github.identity import AppIdentity
from relay.github.refusals import refusal, server_time
from relay.github.types import GitHubError
from relay.outgoing import Answer

#: A token lives an hour; one that is about to end could end on its way.
_MARGIN = timedelta(minutes=5)
#: Repositories that are remembered; the one not used for longest goes first.
REMEMBERED = 1_000


@dataclass(slots=True)
class _Known:
    """What is known of one repository. The lock makes threads that come together ask once."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    installation: int | None = None
    token: str = field(default="", repr=False)
    expires_at: datetime | None = None


class Installations:
    """The App's tokens by repository; may be used by several threads."""

    def __init__(self, exchange: Exchange, identity: AppIdentity) -> None:
        self._exchange = exchange
        self._identity = identity
        self._lock = threading.Lock()
        self._repos: OrderedDict[str, _Known] = OrderedDict()

    def authorization(self, repo: str) -> str:
        """The `Authorization` header for requests about a repository (`owner/name`).

        Raises:
            GitHubError: the App is not installed there (404), or GitHub cannot be asked.
        """
        known = self._entry(repo)
        with known.lock:
            if known.expires_at is None or known.expires_at - _MARGIN <= self._identity.time():
                self._renew(repo, known)
            return f"Bearer {known.token}"

    def forget(self, repo: str, authorization: str) -> None:
        """Ask anew next time: GitHub does not take this token any more."""
        known = self._entry(repo)
        with known.lock:
            # Another thread may have a new one already.
            if f"Bearer {known.token}" == authorization:
                known.expires_at = None

    def as_app(
        self,
        method: str,
        path: str,
        *,
        body: Mapping[str, object] | None = None,
        query: Mapping[str, str | int] | None = None,
    ) -> Answer:
        """A request with the App's own token; once more when it was refused because of our clock.

        Raises:
            GitHubError: as `Exchange.request`.
        """
        send = partial(self._exchange.request, method, path, body=body, query=query)
        answer = send(self._identity.authorization(), good=(*GOOD, 401))
        if answer.status != 401:
            return answer
        if not self._identity.learn(server_time(answer.headers)):
            raise refusal(f"{method} {path}", answer, self._identity.time())
        return send(self._identity.authorization())

    def _entry(self, repo: str) -> _Known:
        with self._lock:
            known = self._repos.setdefault(repo.casefold(), _Known())
            self._repos.move_to_end(repo.casefold())
            while len(self._repos) > REMEMBERED:
                self._repos.popitem(last=False)
            return known

    def _renew(self, repo: str, known: _Known) -> None:
        remembered = known.installation is not None
        try:
            self._mint(repo, known)
        except GitHubError as error:
            # The App was installed anew since: the old number is gone.
            known.installation = None
            if not remembered or error.status != 404:
                raise
            self._mint(repo, known)

    def _mint(self, repo: str, known: _Known) -> None:
        if known.installation is None:
            known.installation = self._installation_of(repo)
        path = f"/app/installations/{known.installation}/access_tokens"
        minted = read(MintedToken, self.as_app("POST", path, body={"repositories": [repo.partition("/")[2]]}))
        known.token, known.expires_at = minted.token, minted.expires_at

    def _installation_of(self, repo: str) -> int:
        try:
            return read(Numbered, self.as_app("GET", f"/repos/{repo}/installation")).id
        except GitHubError as error:
            if error.status != 404:
                raise
            raise GitHubError(f"The GitHub App is not installed on {repo}", status=404) from error
