"""Who a request comes from, and whether they may: the credentials and permissions of every route.

Source: https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from relay.devgithub.records import App, RefusedError, Repository, not_found
from relay.devgithub.state import DevGitHub
from relay.devgithub.tokens import app_of

_LEVELS = {"": 0, "read": 1, "write": 2}


@dataclass(frozen=True)
class Caller:
    """Somebody with a credential, or without one (`app` is None). `name` is whose rate limit is used."""

    name: str = ""
    app: App | None = None
    as_installation: bool = False
    repositories: frozenset[str] = frozenset()
    permissions: Mapping[str, str] = field(default_factory=dict)

    def check(self, repository: Repository, permission: str, level: str = "read") -> None:
        """Let pass who may. Anonymous callers may read what is public.

        Raises:
            RefusedError: 401, 403 or 404, as GitHub answers.
        """
        if not self.name:
            if level != "read" or repository.private:
                raise not_found() if repository.private else RefusedError(401, "Requires authentication")
            return
        if not self.as_installation:
            raise RefusedError(401, "A JSON web token could not be used here; use an installation access token")
        if repository.key not in self.repositories:
            self._check_stranger(repository, level)
            return
        if _LEVELS[self.permissions.get(permission, "")] < _LEVELS[level]:
            raise RefusedError(403, "Resource not accessible by integration")

    def _check_stranger(self, repository: Repository, level: str) -> None:
        """Not installed there: like everybody, it may read what is public and write nothing."""
        if repository.private:
            raise not_found()
        if level != "read":
            raise RefusedError(403, "Resource not accessible by integration")


def caller_of(state: DevGitHub, authorization: str) -> Caller:
    """Who shows this `Authorization` header. Raises RefusedError 401 for a credential that is none."""
    scheme, _, token = authorization.partition(" ")
    if not authorization:
        return Caller()
    if scheme.lower() not in ("bearer", "token") or not token:
        raise RefusedError(401, "Bad credentials")
    if token.count(".") == 2:
        app = app_of(token, state.apps, state.now())
        return Caller(f"app {app.id}", app)
    grant = state.tokens.find(token)
    installation = grant.installation
    # Looked up anew: a repository that was taken away is closed to tokens that are still alive.
    reachable = grant.repositories & installation.repositories
    name = f"installation {installation.id}"
    return Caller(name, installation.app, True, frozenset(reachable), grant.permissions)


def dev_github(request: Request) -> DevGitHub:
    """The state behind the application that serves this request."""
    state = request.app.state.devgithub
    if not isinstance(state, DevGitHub):
        raise TypeError("relay.devgithub.create_devgithub sets app.state.devgithub")
    return state


def _caller(request: Request) -> Caller:
    found = request.state.caller
    if not isinstance(found, Caller):
        raise TypeError("the gate of relay.devgithub sets request.state.caller")
    return found


def _app(caller: Annotated[Caller, Depends(_caller)]) -> App:
    """Routes of the app itself, which shows its own token."""
    if caller.app is None or caller.as_installation:
        raise RefusedError(401, "A JSON web token could not be decoded")
    return caller.app


def _repository(owner: str, repo: str, state: Annotated[DevGitHub, Depends(dev_github)]) -> Repository:
    return state.repository(f"{owner}/{repo}")


State = Annotated[DevGitHub, Depends(dev_github)]
CallerOf = Annotated[Caller, Depends(_caller)]
AppOf = Annotated[App, Depends(_app)]
RepositoryOf = Annotated[Repository, Depends(_repository)]
