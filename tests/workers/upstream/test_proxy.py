"""Git fetches through the proxy that is meant for it, and nobody reads how it logs in there."""

from __future__ import annotations

import os
import subprocess
import threading
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from relay.contract import Change
from tests.workers.small_upstream import Upstream
from workers.settings import SettingsError, load_settings
from workers.upstream.checkout import Mirrors
from workers.upstream.git import GitError
from workers.upstream.proxy import through

SECRET = "p/ss:w@rd"
QUOTED = "p%2Fss%3Aw%40rd"
LOGIN = f"Basic {b64encode(f'me:{SECRET}'.encode()).decode()}"
#: A host that no machine knows: who gets there went by the proxy.
UPSTREAM = "upstream.invalid"


@dataclass
class Proxy:
    """What it was asked, with the login that it was shown. It has the files of one folder for upstream's host."""

    folder: Path
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://me:{QUOTED}@127.0.0.1:{self.port}"


class _Asked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        proxy = self._heard()
        path = urlsplit(self.path)
        file = proxy.folder / path.path.lstrip("/")
        found = path.hostname == UPSTREAM and file.is_file()
        if self.headers.get("Proxy-Authorization") != LOGIN:
            self._answer(407)
        else:
            self._answer(200 if found else 404, file.read_bytes() if found else b"")

    def do_CONNECT(self) -> None:
        self._heard()
        self._answer(407 if self.headers.get("Proxy-Authorization") != LOGIN else 502)

    def _heard(self) -> Proxy:
        proxy: Proxy = self.server.proxy  # type: ignore[attr-defined] # put there below
        proxy.asked.append((self.command, self.path, self.headers.get("Proxy-Authorization", "")))
        return proxy

    def _answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        if status == 407:
            self.send_header("Proxy-Authenticate", 'Basic realm="proxy"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def proxy(tmp_path: Path) -> Iterator[Proxy]:
    (tmp_path / "served").mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), _Asked) as server:
        found = Proxy(tmp_path / "served", port=server.server_port)
        server.proxy = found  # type: ignore[attr-defined] # what `_Asked` looks at
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield found
        server.shutdown()
        thread.join()


def test_a_change_is_fetched_through_the_proxy(proxy: Proxy, tmp_path: Path) -> None:
    (proxy.folder / "repo").mkdir()
    upstream = Upstream(proxy.folder / "repo")
    upstream.git("init", "-q", "-b", "main")
    base, head = (upstream.commit({"file": text}) for text in ("before", "after"))
    upstream.git("update-ref", "refs/pull/7/head", "HEAD")
    upstream.git("update-server-info")
    url = f"http://{UPSTREAM}/repo/.git"
    change = Change(repo="o/n", clone_url=url, fetch_ref="refs/pull/7/head", base_sha=base, head_sha=head)
    mirror = Mirrors(tmp_path / "mirrors", proxy=proxy.address).open(url)
    mirror.ensure(change)
    assert mirror.merge_base(base, head) == base
    assert ("GET", f"{url}/info/refs?service=git-upload-pack", LOGIN) in proxy.asked
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and QUOTED in path.read_text(errors="ignore")]


def test_an_encrypted_address_is_asked_for_by_connect(proxy: Proxy, tmp_path: Path) -> None:
    """And what git says when that fails holds neither form of the password."""
    change = Change(repo="o/n", clone_url=f"https://{UPSTREAM}/repo", base_sha="b" * 40, head_sha="a" * 40)
    with pytest.raises(GitError, match="RELAY_GIT_PROXY") as failed:
        Mirrors(tmp_path / "mirrors", proxy=proxy.address).open(change.clone_url).ensure(change)
    assert ("CONNECT", f"{UPSTREAM}:443", LOGIN) in proxy.asked
    assert not [form for form in (QUOTED, SECRET) if form in str(failed.value)]


def test_nothing_shows_the_login(proxy: Proxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not git's command line nor its environment, not the description of what holds it; and no proxy of the machine
    gets to git."""
    monkeypatch.setenv("https_proxy", proxy.address)
    mirrors = Mirrors(tmp_path / "mirrors", proxy=proxy.address)
    mirror = mirrors.open(f"http://{UPSTREAM}/repo")
    with through(proxy.address) as (options, descriptors):
        told = f"{options} {mirror.git.environment()} {mirrors} {mirror}"
        told_git = subprocess.run(
            ["git", *options, "config", "http.proxy"], pass_fds=descriptors, capture_output=True, text=True, check=True
        )
    assert QUOTED not in told
    assert told_git.stdout.strip() == proxy.address
    assert not [descriptor for descriptor in descriptors if Path(f"/proc/self/fd/{descriptor}").exists()]


def test_a_wrong_address_is_refused_without_being_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELAY_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("RELAY_BROKER_URL", "redis://127.0.0.1:1")
    monkeypatch.setenv("RELAY_WORKER_TOKEN", "t" * 20)
    monkeypatch.setenv("RELAY_GIT_PROXY", f'http://me:{QUOTED}@proxy:1"\n[core]')
    with pytest.raises(SettingsError, match="RELAY_GIT_PROXY: must be http") as refused:
        load_settings()
    assert QUOTED not in str(refused.value)
    monkeypatch.setenv("RELAY_GIT_PROXY", f"http://me:{QUOTED}@proxy:3128")
    settings = load_settings()
    assert settings.proxy_of_git == os.environ["RELAY_GIT_PROXY"]
    assert QUOTED not in repr(settings)
    assert {QUOTED, SECRET} <= set(settings.own_secrets())
