"""What is read from answers, and what a check run is written with."""

from __future__ import annotations

from dataclasses import replace

import httpx
import pytest

from relay.github.answers import CheckPage, ListedDelivery, MintedToken, Numbered, WorkflowRun, check_run_body, read
from relay.github.types import CheckRun, GitHubError
from relay.outgoing import Answer

CHECK = CheckRun("n", "a" * 40, "in_progress", None, "https://x.invalid/1", "1:7", "In progress", "s")


def answer(body: bytes) -> Answer:
    """A good answer with this body."""
    return Answer(200, httpx.Headers(), body)


@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"[]", b"{}", b'{"id": "x"}', b'{"id": null}', b"[" * 5_000])
def test_an_answer_that_is_something_else_may_be_right_later(body: bytes) -> None:
    """A proxy's page, half an answer: an error that passes, without the body in it."""
    with pytest.raises(GitHubError, match="is not what it documents") as failed:
        read(Numbered, answer(body))
    assert failed.value.passing
    assert "html" not in failed.value.message


def test_fields_that_are_not_read_are_passed_over() -> None:
    """GitHub adds some every month."""
    assert read(Numbered, answer(b'{"id": 5, "new": {"a": []}}')).id == 5
    page = read(CheckPage, answer(b'{"total_count": 1, "check_runs": [{"id": 1, "name": "n", "status": "queued"}]}'))
    assert page.seen()[0].external_id == ""


def test_a_run_may_have_no_status_yet() -> None:
    """GitHub's schema allows null."""
    body = b'{"id": 1, "status": null, "conclusion": null, "html_url": "u"}'
    assert read(WorkflowRun, answer(body)).seen().status == "queued"


def test_a_delivery_tells_its_moment_with_its_zone() -> None:
    """So that it can be compared."""
    body = b'{"id":1,"guid":"g","event":"push","action":null,"status_code":200,"delivered_at":"2026-11-02T09:30:00Z"}'
    assert read(ListedDelivery, answer(body)).seen().delivered_at == "2026-11-02T09:30:00+00:00"


def test_a_minted_token_is_not_shown() -> None:
    """In no representation; an empty one is none."""
    token = read(MintedToken, answer(b'{"token": "ghs_secret", "expires_at": "2026-11-02T10:30:00Z"}'))
    assert "ghs_secret" not in repr(token)
    with pytest.raises(GitHubError) as failed:
        read(MintedToken, answer(b'{"token": "", "expires_at": "2026-11-02T10:30:00Z"}'))
    assert "token" in failed.value.message


def test_an_error_about_a_token_does_not_quote_it() -> None:
    """Even when another field of the answer is wrong."""
    with pytest.raises(GitHubError) as failed:
        read(MintedToken, answer(b'{"token": "ghs_secret", "expires_at": "soon"}'))
    assert "ghs_secret" not in failed.value.message


@pytest.mark.parametrize(
    ("status", "conclusion", "sent"),
    [
        ("in_progress", None, False),
        ("in_progress", "success", False),
        ("completed", "failure", True),
        ("completed", None, False),
    ],
)
def test_a_conclusion_is_sent_with_a_completion_only(status: str, conclusion: str | None, sent: bool) -> None:
    """GitHub takes any conclusion for a completion."""
    body = check_run_body(replace(CHECK, status=status, conclusion=conclusion))
    assert body["status"] == status
    assert body.get("conclusion") == (conclusion if sent else None)
    assert ("conclusion" in body) is sent


def test_texts_fit_githubs_caps() -> None:
    """Beyond them the whole check run would be refused; an absent link is left out."""
    body = check_run_body(replace(CHECK, title="t" * 900, summary="s" * 70_000, details_url=""))
    assert body["output"] == {"title": "t" * 255, "summary": "s" * 65_535}
    assert "details_url" not in body
    assert "head_sha" not in body
