"""The login of a clone URL reaches the server, and neither a command line nor a message of git's."""

from __future__ import annotations

import threading
from base64 import b64encode
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from relay.contract import Change
from relay.trail.known_secrets import without_login
from workers.upstream.checkout import Mirrors
from workers.upstream.git import GitError
from workers.upstream.login import login_apart

SECRET = "p/ss:w@rd"
QUOTED = "p%2Fss%3Aw%40rd"
COMMITS = ("b" * 40, "a" * 40)


class _Asks(BaseHTTPRequestHandler):
    """A server that wants to know who asks, and then has nothing."""

    def do_GET(self) -> None:
        seen: list[str] = self.server.seen  # type: ignore[attr-defined] # put there below
        login = self.headers.get("Authorization", "")
        seen.append(login)
        self.send_response(404 if login else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="upstream"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    """The address of such a server, and the logins that it was shown."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Asks) as server:
        server.seen = list[str]()  # type: ignore[attr-defined] # what `_Asks` writes to
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}", server.seen  # type: ignore[attr-defined] # as above
        server.shutdown()
        thread.join()


def test_git_logs_in_and_says_nothing_of_it(server: tuple[str, list[str]], tmp_path: Path) -> None:
    address, seen = server
    base, head = COMMITS
    url = f"http://me:{QUOTED}@{address}/upstream.git"
    change = Change(repo="o/n", clone_url=url, fetch_ref="", base_sha=base, head_sha=head)
    mirror = Mirrors(tmp_path / "mirrors").open(change.clone_url)
    with pytest.raises(GitError) as failed:
        mirror.ensure(change)
    assert f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}" in seen
    assert "git fetch failed" in str(failed.value)
    assert not [form for form in (QUOTED, SECRET) if form in str(failed.value)]
    kept = [path.read_bytes() for path in (tmp_path / "mirrors").rglob("*") if path.is_file()]
    assert not [text for text in kept if QUOTED.encode() in text or SECRET.encode() in text]


def test_a_new_password_is_no_new_mirror(tmp_path: Path) -> None:
    mirrors = Mirrors(tmp_path / "mirrors")
    first, second = (mirrors.open(f"https://me:{word}@host/upstream.git") for word in ("old-one", "new-one"))
    assert first.git.repository == second.git.repository


@pytest.mark.parametrize("url", ["/srv/upstream", "ssh://git@host/upstream.git", "https://host/upstream.git"])
def test_an_address_without_a_login_stays_as_it_is(url: str) -> None:
    assert without_login(url) == url
    with login_apart(url) as told:
        assert told == (url, (), ())
