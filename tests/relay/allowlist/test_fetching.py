"""How a list is had: one form of request, one kind of failure, and nothing sent that is not needed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from relay.allowlist.fetching import TextSource
from relay.allowlist.locations import LocationError
from relay.github.types import FetchedText, GitHubError

PAGE = "https://github.com/a/b/blob/main/lists/x%20y.yml"


def _source(answer: Callable[[httpx.Request], httpx.Response], github: App | None = None) -> TextSource:
    return TextSource(transport=httpx.MockTransport(answer), github=github)


@dataclass
class App:
    """Our App's reading of contents, as far as it is told to work."""

    error: GitHubError | None = None
    asked: list[tuple[str, str, str, str]] = field(default_factory=list)

    def text(self, repo: str, path: str, ref: str, etag: str = "") -> FetchedText:
        self.asked.append((repo, path, ref, etag))
        if self.error is not None:
            raise self.error
        return FetchedText("of the app", "e")


def test_the_contents_api_is_asked_without_a_token() -> None:
    """For the raw file at the ref, and conditionally once an ETag is known."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if request.headers.get("If-None-Match") == '"e1"':
            return httpx.Response(304)
        return httpx.Response(200, text="\ufeffL1: []\n", headers={"ETag": '"e1"'})

    source = _source(answer)
    assert source.fetch(PAGE) == FetchedText("L1: []\n", '"e1"')
    assert source.fetch(PAGE, '"e1"') == FetchedText(None, '"e1"')
    assert str(seen[0].url) == "https://api.github.com/repos/a/b/contents/lists/x%20y.yml?ref=main"
    assert seen[0].headers["Accept"] == "application/vnd.github.raw+json"
    assert "Authorization" not in seen[0].headers


@pytest.mark.parametrize(
    ("status", "headers", "passing", "pause"),
    [
        (404, {}, False, None),
        (301, {"Location": "https://elsewhere.example"}, False, None),
        (304, {}, False, None),
        (500, {}, True, None),
        (403, {"Retry-After": "30"}, True, 30.0),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1"}, True, 0.0),
        (403, {"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "1"}, False, None),
    ],
)
def test_a_refusal_says_status_and_pause(
    status: int, headers: dict[str, str], passing: bool, pause: float | None
) -> None:
    """So that whoever asks knows when to ask again. A 304 that was not asked for is one, too."""
    with pytest.raises(GitHubError, match=f"GitHub answered {status}") as caught:
        _source(lambda _: httpx.Response(status, headers=headers)).fetch(PAGE)
    assert (caught.value.status, caught.value.passing, caught.value.retry_after_s) == (status, passing, pause)


def test_no_answer_is_a_failure_of_the_same_kind() -> None:
    """With the kind of fault, not its text: that may quote an address."""

    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("secret words", request=request)

    with pytest.raises(GitHubError, match=r"no answer \(ConnectError\)") as caught:
        _source(answer).fetch(PAGE)
    assert caught.value.status is None
    assert "secret" not in str(caught.value)


def test_our_app_asks_when_there_is_one() -> None:
    """It has its own, larger allowance."""
    app = App()
    assert _source(_nobody, app).fetch(PAGE, "e0") == FetchedText("of the app", "e")
    assert app.asked == [("a/b", "lists/x y.yml", "main", "e0")]


@pytest.mark.parametrize("status", [401, 403, 404])
def test_where_our_app_may_not_read_the_public_may(status: int) -> None:
    """The list's repository need not have the App installed."""
    source = _source(lambda _: httpx.Response(200, text="public"), App(GitHubError("no", status=status)))
    assert source.fetch(PAGE).text == "public"


@pytest.mark.parametrize(
    "error",
    [
        GitHubError("down", status=502),
        GitHubError("no answer"),
        GitHubError("limit", status=403, retry_after_s=9.0),
        GitHubError("odd", status=418),
    ],
)
def test_a_failure_that_passes_is_not_asked_around(error: GitHubError) -> None:
    """It would only be a second failure, or the use of the public's small allowance."""
    with pytest.raises(GitHubError) as caught:
        _source(_nobody, App(error)).fetch(PAGE)
    assert caught.value is error


def test_a_file_of_this_machine(tmp_path: Path) -> None:
    """Its digest stands in for an ETag; bytes that are no UTF-8 stay visible as such."""
    file = tmp_path / "a list.yml"
    source = _source(_nobody)
    url = file.as_uri()
    with pytest.raises(GitHubError, match="No such file"):
        source.fetch(url)
    file.write_text("L1: []\n", encoding="utf-8")
    first = source.fetch(url)
    assert first.text == "L1: []\n"
    assert source.fetch(url, first.etag) == FetchedText(None, first.etag)
    file.write_bytes(b"L1: [\xff]")
    assert source.fetch(url, first.etag).text == "L1: [\udcff]"


def test_an_address_of_nothing() -> None:
    """Is refused before anything is sent."""
    with pytest.raises(LocationError):
        _source(_nobody).fetch("https://example.com/list")


def _nobody(request: httpx.Request) -> httpx.Response:
    raise AssertionError(f"{request.url} must not be asked")
