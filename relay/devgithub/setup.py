"""A local GitHub for a person who tries a relay: an upstream from a clone, backends by name, one app on all of them.

Keys are kept in a folder, so that a relay that was told of them goes on working after a restart. What a relay has to be
told is a mapping of its variables.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from relay.devgithub.keys import new_private_pem
from relay.devgithub.records import App
from relay.devgithub.sources import Commit, GitSource, Source
from relay.devgithub.state import DevGitHub
from relay.machine.state_folder import write_private

ALLOWLIST_PATH = ".github/allowlist.yml"
WEBHOOK_PATH = "/github/webhook"


@dataclass(frozen=True)
class Plan:
    """What is to be there. `clone` is the upstream's git repository; `allowlist` is a file that stands in for the
    upstream's own, None for one that names the backends at L2."""

    upstream: str
    clone: Path
    backends: tuple[str, ...]
    allowlist: Path | None
    relay_url: str


class WithAllowlist:
    """A repository's content, but for its allowlist: that one is the file of whoever tries a relay, read anew each
    time. The upstream's own names backends that are not here."""

    def __init__(self, source: Source, file: Path | None, backends: Sequence[str]) -> None:
        self._source = source
        self._file = file
        self._backends = backends

    def commit(self, revision: str) -> Commit | None:
        """The repository's."""
        return self._source.commit(revision)

    def read(self, revision: str, path: str) -> bytes | None:
        """The repository's file, or the allowlist."""
        if path != ALLOWLIST_PATH:
            return self._source.read(revision, path)
        if self._file is None:
            return allowlist_of(self._backends).encode()
        return self._file.read_bytes() if self._file.is_file() else None

    def diff(self, base: str, head: str) -> str | None:
        """The repository's."""
        return self._source.diff(base, head)

    def between(self, base: str, head: str) -> Sequence[Commit]:
        """The repository's."""
        return self._source.between(base, head)

    def merge_base(self, base: str, head: str) -> Commit | None:
        """The repository's."""
        return self._source.merge_base(base, head)


def allowlist_of(backends: Sequence[str]) -> str:
    """An allowlist with every backend at L2: its results are shown, and it answers no check of the pull request."""
    return "".join(["L2:\n" if backends else "", *(f"  - {name}\n" for name in backends)])


def set_up(folder: Path, plan: Plan, webhook_secret: str) -> tuple[DevGitHub, App]:
    """The state of the plan, with the keys that `folder` keeps."""
    state = DevGitHub(issuer_pem=kept_key(folder / "issuer.pem"))
    app = state.add_app(
        owner=plan.upstream.partition("/")[0],
        private_pem=kept_key(folder / "app.pem"),
        webhook_url=plan.relay_url.rstrip("/") + WEBHOOK_PATH,
        webhook_secret=webhook_secret,
    )
    source = WithAllowlist(GitSource(plan.clone), plan.allowlist, plan.backends)
    state.add_repository(plan.upstream, source=source, app=app)
    for name in plan.backends:
        state.add_repository(name, app=app)
    return state, app


def kept_key(path: Path) -> str:
    """The private key in a file of this user's, made at the first call. Raises OSError."""
    if not path.is_file():
        write_private(path, new_private_pem())
    return path.read_text(encoding="utf-8")


def relay_variables(state: DevGitHub, app: App, plan: Plan) -> Mapping[str, str]:
    """The `RELAY_*` variables of a relay that takes this for its GitHub. One of them is the app's private key."""
    return {
        "RELAY_GITHUB_API_URL": state.url,
        "RELAY_GITHUB_WEB_URL": state.url,
        "RELAY_GITHUB_APP_ID": str(app.id),
        "RELAY_GITHUB_APP_PRIVATE_KEY": app.private_pem,
        "RELAY_DEV_OIDC_ISSUER": state.url,
        "RELAY_UPSTREAM_REPO": plan.upstream,
        "RELAY_ALLOWLIST_URL": f"{state.url}/{plan.upstream}/blob/main/{ALLOWLIST_PATH}",
        "RELAY_UPSTREAM_CLONE_URL": str(plan.clone),
        "RELAY_COMMENT_COMMANDS": ",".join(("upstream", *plan.backends)),
    }


def shell_script(variables: Mapping[str, str]) -> str:
    """The variables for a POSIX shell's `.` command."""
    return "".join(f"export {name}={shlex.quote(value.strip())}\n" for name, value in variables.items())
