"""A plain client of the local GitHub for its own tests: an app's token, an installation's token, requests with either.

It is not the relay's client: what is tested here must not be judged by code that could share its mistakes.
"""

from __future__ import annotations

import time
from typing import Any

import httpx
import jwt

from relay.devgithub import App
from tests.github.serving import ServedGitHub

UPSTREAM, BACKEND = "upstream/torch", "acme/backend"
HEAD, BASE, NEXT = "a" * 40, "b" * 40, "c" * 40


def app_token(app: App, *, issued: float | None = None, life_s: float = 300, **claims: object) -> str:
    """The token an app signs for itself, by the machine's clock."""
    begun = int(time.time() if issued is None else issued)
    signed = {"iss": str(app.id), "iat": begun, "exp": begun + int(life_s), **claims}
    return jwt.encode({name: value for name, value in signed.items() if value is not None}, app.private_pem, "RS256")


class GitHubClient:
    """Requests of one app, or of nobody."""

    def __init__(self, served: ServedGitHub, app: App) -> None:
        self._http = httpx.Client(base_url=served.url, trust_env=False, timeout=20)
        self._app = app
        self.own = {"Authorization": f"Bearer {app_token(app)}"}

    def anonymous(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Without a credential."""
        return self._http.request(method, path, **more)

    def as_app(self, method: str, path: str, **more: Any) -> httpx.Response:
        """With the app's own token."""
        return self._http.request(method, path, headers=self.own | more.pop("headers", {}), **more)

    def token(self, repo: str, **wanted: object) -> str:
        """A new installation token for a repository's account."""
        installation = self.as_app("GET", f"/repos/{repo}/installation").json()["id"]
        path = f"/app/installations/{installation}/access_tokens"
        answer = self.as_app("POST", path, **({"json": wanted} if wanted else {}))
        answer.raise_for_status()
        return str(answer.json()["token"])

    def request(
        self, method: str, repo: str, rest: str, *, token: str = "", accept: str = "", **more: Any
    ) -> httpx.Response:
        """A request about a repository, with an installation token for it."""
        headers = {"Authorization": f"Bearer {token or self.token(repo)}", **({"Accept": accept} if accept else {})}
        return self._http.request(method, f"/repos/{repo}{rest}", headers=headers | more.pop("headers", {}), **more)

    def close(self) -> None:
        """Leave no connection behind."""
        self._http.close()
