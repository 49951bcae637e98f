"""The local GitHub's memory and its parts: who is there, what is installed where, what was dispatched.

Everything is in memory and guarded by one lock. What a request may do is judged by `relay.devgithub.access`; what
follows from an event is in the modules of pull requests, checks, runs and dispatches.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from relay.devgithub.faults import Faults
from relay.devgithub.hooks import Hooks
from relay.devgithub.keys import new_private_pem, public_key
from relay.devgithub.oidc import Issuer
from relay.devgithub.rate_limits import RateLimits
from relay.devgithub.records import Answered, App, Asked, Delivery, Dispatch, Installation, Repository, not_found
from relay.devgithub.sources import MemorySource, Source
from relay.devgithub.tokens import Tokens

#: What a relay's app may do and hears of.
RELAY_PERMISSIONS = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "read",
}
RELAY_EVENTS = ("pull_request", "push", "check_run", "check_suite", "issue_comment")

#: Looks at a request before it is answered, and tells what is wrong with it.
Inspector = Callable[[Asked], Iterable[str]]
#: The same of an answer.
AnswerInspector = Callable[[Asked, Answered], Iterable[str]]


def utc_now() -> datetime:
    """The clock of a GitHub that runs."""
    return datetime.now(UTC)


class DevGitHub:
    """A GitHub in memory. `url` is its address once it serves; it is also the issuer of its tokens.

    `inspectors` and `answer_inspectors` judge the traffic; what they complain about is kept in `complaints`.
    """

    def __init__(self, now: Callable[[], datetime] = utc_now, issuer_pem: str = "") -> None:
        self.now = now
        self.lock = threading.RLock()
        self.apps: dict[int, App] = {}
        self.installations: dict[int, Installation] = {}
        self.repositories: dict[str, Repository] = {}
        self.dispatches: list[Dispatch] = []
        self.faults = Faults()
        self.hooks = Hooks(now)
        self.tokens = Tokens(now)
        self.rate_limits = RateLimits(now)
        self.oidc = Issuer(now, issuer_pem)
        self.inspectors: list[Inspector] = []
        self.answer_inspectors: list[AnswerInspector] = []
        self.complaints: list[str] = []
        self._ids = itertools.count(1)

    @property
    def url(self) -> str:
        """Where it is reached."""
        return self.oidc.url

    @url.setter
    def url(self, url: str) -> None:
        self.oidc.url = url.rstrip("/")

    def next_id(self) -> int:
        """A number that nothing else here has."""
        return next(self._ids)

    def add_app(
        self,
        slug: str = "relay",
        *,
        owner: str = "relay-owner",
        private_pem: str = "",
        webhook_url: str = "",
        webhook_secret: str = "",
        events: Iterable[str] = RELAY_EVENTS,
        permissions: Mapping[str, str] | None = None,
    ) -> App:
        """Register an app. A key that is not given is made. Raises ValueError when the given one is no RSA key."""
        pem = private_pem or new_private_pem()
        app = App(
            id=self.next_id(),
            slug=slug,
            owner=owner,
            created_at=self.now(),
            public_key=public_key(pem),
            private_pem=pem,
            permissions=dict(RELAY_PERMISSIONS if permissions is None else permissions),
            events=frozenset(events),
            webhook_url=webhook_url,
            webhook_secret=webhook_secret,
        )
        with self.lock:
            self.apps[app.id] = app
        return app

    def add_repository(
        self, full_name: str, *, source: Source | None = None, app: App | None = None, private: bool = False
    ) -> Repository:
        """Make a repository, with `app` installed on it. Its content is empty memory when no source is given."""
        content = MemorySource() if source is None else source
        repository = Repository(self.next_id(), full_name, self.now(), content, private=private)
        with self.lock:
            self.repositories[repository.key] = repository
        if app is not None:
            self.install(app, full_name)
        return repository

    def repository(self, full_name: str) -> Repository:
        """A repository by its name in any letter case. Raises RefusedError 404."""
        with self.lock:
            found = self.repositories.get(full_name.casefold())
        if found is None:
            raise not_found()
        return found

    def install(self, app: App, full_name: str) -> Installation:
        """Give an app a repository: one installation for each account, as with GitHub."""
        repository = self.repository(full_name)
        with self.lock:
            for known in self.installations.values():
                if known.app is app and known.owner.casefold() == repository.owner.casefold():
                    known.repositories.add(repository.key)
                    return known
            made = Installation(self.next_id(), app, repository.owner, self.now(), {repository.key})
            self.installations[made.id] = made
            return made

    def uninstall(self, app: App, full_name: str) -> None:
        """Take a repository away from an app."""
        with self.lock:
            for installation in self.installations.values():
                if installation.app is app:
                    installation.repositories.discard(full_name.casefold())

    def installation_for(self, app: App, repository: Repository) -> Installation | None:
        """The installation through which an app has a repository."""
        with self.lock:
            of_app = (each for each in self.installations.values() if each.app is app)
            return next((each for each in of_app if repository.key in each.repositories), None)

    def announce(
        self, repository: Repository, event: str, payload: Mapping[str, Any], *, only: App | None = None
    ) -> list[Delivery]:
        """Deliver an event to the apps that have the repository and hear of the event, and wait for their answers."""
        return [
            self.hooks.send(each.app, event, _for(payload, each), installation=each.id, repository=repository.id)
            for each in self._hearers(repository, event, only)
        ]

    def announce_later(
        self, repository: Repository, event: str, payload: Mapping[str, Any], *, only: App | None = None
    ) -> None:
        """The same from other threads: for what happens inside a request."""
        for each in self._hearers(repository, event, only):
            self.hooks.post(each.app, event, _for(payload, each), installation=each.id, repository=repository.id)

    def _hearers(self, repository: Repository, event: str, only: App | None) -> list[Installation]:
        with self.lock:
            return [
                each
                for each in self.installations.values()
                if repository.key in each.repositories
                and event in each.app.events
                and each.app.webhook_url
                and only in (None, each.app)
            ]


def _for(payload: Mapping[str, Any], installation: Installation) -> dict[str, Any]:
    return {**payload, "installation": {"id": installation.id, "node_id": f"I_{installation.id}"}}
