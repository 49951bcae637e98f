"""The callback endpoint itself (CB)."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from relay.parts import LoadedAllowlist
from relay.store.crcr_models import SeenToken
from tests.conformance.answering import answer, dispatched, jobs, nothing_happened, report, results
from tests.conformance.payloads import callback
from tests.conformance.world import World

MEBIBYTE = 1024 * 1024


@pytest.mark.row("CB01")
def test_there_is_one_path_and_one_method(world: World) -> None:
    """Exactly; the answers have the protocol's shape."""
    for path in ("/github/callback/", "/github/callbacks", "/callback"):
        assert world.callback(callback(), path=path).status_code == 404
    answered = world.client.get("/github/callback")
    assert answered.status_code == 405
    assert set(answered.json()) == {"detail"}


@pytest.mark.row("CB02")
def test_malformed_json_is_told_before_anything_else(world: World) -> None:
    """Even without a token."""
    answered = world.callback(b"{nope", token="")
    assert answered.status_code == 400
    assert answered.json() == {"detail": "Invalid JSON body"}


@pytest.mark.row("CB03")
def test_a_missing_token_is_said_to_be_missing(world: World) -> None:
    """Without a look at the body."""
    answered = world.callback({}, token="")
    assert answered.status_code == 401
    assert "missing" in answered.json()["detail"].lower()
    assert answered.headers["WWW-Authenticate"] == "Bearer"


@pytest.mark.row("CB04")
@pytest.mark.parametrize("token", ["nonsense", "a.b.c"])
def test_a_token_that_cannot_be_verified_is_refused(world: World, token: str) -> None:
    """And leaves no trace."""
    dispatched(world)
    answered = world.callback(answer(world), token=token)
    assert answered.status_code == 401
    assert token not in answered.text
    assert nothing_happened(world)


@pytest.mark.row("CB04")
def test_a_token_says_one_thing_only(world: World) -> None:
    """Who overhears one can repeat what was said with it, and say nothing else."""
    dispatched(world)
    token = world.token("a/l2")
    body = answer(world)
    assert world.callback(body, token=token).status_code == 200
    assert world.callback(body, token=token).json()["duplicate"] is True
    assert world.callback(answer(world, "completed"), token=token).status_code == 401
    assert [job.state for job in jobs(world)] == ["in_progress"]
    with world.session() as session:
        assert [seen.uses for seen in session.scalars(select(SeenToken))] == [2]


@pytest.mark.row("CB05")
def test_a_body_is_kept_unchanged_and_says_nothing_of_who_sent_it(world: World) -> None:
    """Unknown keys too; whose it is, the token tells."""
    dispatched(world)
    body = answer(world) | {
        "repository": "a/l4",
        "verified_repo": "a/l4",
        "extra": {"deep": [1, 2.5, None, "\N{SNOWMAN}"]},
    }
    assert world.callback(body).status_code == 200
    world.drain()
    (job,) = jobs(world)
    assert (job.repo, job.callback) == ("a/l2", body)
    (posted,) = world.hud.posts
    assert posted["trusted"]["verified_repo"] == "a/l2"
    assert posted["untrusted"]["callback_payload"] == body


@pytest.mark.row("CB06")
def test_what_is_our_own_fault_is_told_with_its_reason(world: World) -> None:
    """And when to come again."""
    world.allowlist.text = None
    answered = world.callback(callback())
    assert answered.status_code == 503
    assert "allowlist" in answered.json()["detail"].lower()
    assert int(answered.headers["Retry-After"]) > 0


@pytest.mark.row("CB07")
def test_an_unexpected_failure_tells_nothing_of_the_inside(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the fault's words nor where it was."""

    def broken() -> LoadedAllowlist:
        raise RuntimeError("the key is in /etc/secret")

    monkeypatch.setattr(world.allowlist, "current", broken)
    answered = world.callback(callback())
    assert answered.status_code == 500
    assert set(answered.json()) == {"detail"}
    assert not any(word in answered.text for word in ("secret", "RuntimeError", "Traceback", ".py"))


@pytest.mark.row("CB08")
@pytest.mark.parametrize("body", [[], None, "text", 7])
def test_a_body_that_is_no_object_is_the_callers_mistake(world: World, body: object) -> None:
    """The original fails on it."""
    answered = world.callback(body)
    assert answered.status_code == (500 if world.strict else 400)
    assert nothing_happened(world)


@pytest.mark.row("CB09")
def test_an_empty_body_lacks_a_delivery(world: World) -> None:
    """It stands for an empty object."""
    for body in (b"", b"{}"):
        answered = world.callback(body)
        assert answered.status_code == 400
        assert "delivery_id" in answered.json()["detail"]


@pytest.mark.row("CB10")
def test_a_body_is_bounded(world: World) -> None:
    """The original keeps and forwards whatever fits its platform."""
    dispatched(world)
    large = answer(world) | {"log": "x" * (3 * MEBIBYTE)}
    answered = world.callback(large)
    if world.strict:
        assert answered.status_code == 200
        assert world.hud.posts[0]["untrusted"]["callback_payload"] == large
    else:
        assert answered.status_code == 413
        assert nothing_happened(world)


@pytest.mark.row("CB10")
@pytest.mark.parametrize("size", [2 * MEBIBYTE, 2 * MEBIBYTE + 1])
def test_the_bound_is_two_mebibytes_to_the_byte(world: World, size: int) -> None:
    """It counts before anything is read, and before any token is asked for."""
    body = b'{"x": "' + b"x" * (size - 9) + b'"}'
    assert len(body) == size
    over = size > 2 * MEBIBYTE and not world.strict
    assert world.callback(body, token="").status_code == (413 if over else 401)


@pytest.mark.row("CB02")
@pytest.mark.parametrize(
    "body", [b"[" * 50_000, b'{"a": NaN}', b"\xff\xfe", b'{"a": 1e999}', b'{"a":' * 70 + b"1" + b"}" * 70]
)
def test_what_could_not_be_kept_is_not_json(world: World, body: bytes) -> None:
    """Depths beyond the stack, words that are no numbers, bytes that are no text."""
    assert world.callback(body).status_code == 400


@pytest.mark.row("CB07")
@pytest.mark.parametrize(
    "change",
    [
        {"job_name": "a\0b"},
        {"job_name": "\ud800"},
        {"name": "n" * 301},
        {"run_id": "9" * 5_000},
        {"run_attempt": "9" * 30},
        {"url": ["x"]},
        {"started_at": {"a": 1}},
        {"test_results": {"passed": 10**400}},
        {"test_results": "many"},
        {"failed_tests_detail": [{"name": "\0", "message": "\ud800"}]},
        {"conclusion": {"a": 1}},
        {"check_run_id": {"a": 1}},
        {"artifact_url": "\0"},
    ],
)
def test_no_body_makes_the_relay_fail(world: World, change: dict[str, Any]) -> None:
    """Whatever a field holds, the answer is not a failure of ours, and a report that is taken can be read back."""
    dispatched(world)
    answered = report(world, "completed", **change)
    assert answered.status_code in (200, 400)
    assert len(jobs(world)) == (answered.status_code == 200)
    assert len(results(world)) <= 1
