"""The client over real HTTP: typed answers, and a failure of the right kind with a hint for every refusal."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from relay.client import ApiClient, BadReply, Busy, Conflict, NotFound, Refused, Unauthorized, Unreachable, is_loopback
from relay.views import Conclusion, RunState
from tests.relay.stand_in import TOKEN, StandIn, a_failure, a_run, closed_port, events_of, serving


@pytest.fixture
def service() -> Iterator[StandIn]:
    runs = {1: a_run(1, RunState.FINISHED, Conclusion.FAILURE), 2: a_run(2, RunState.RUNNING)}
    with serving(StandIn(runs, failures=[a_failure()], events=events_of(1, 3))) as state:
        yield state


def replying(reply: httpx.Response) -> ApiClient:
    """A client whose network is one fixed answer."""
    return ApiClient("http://relay.invalid", transport=httpx.MockTransport(lambda _: reply))


def test_answers_are_typed(service: StandIn) -> None:
    """Runs, run, tests and events come as the read models."""
    with ApiClient(service.url) as client:
        assert [run.id for run in client.runs().runs] == [2, 1]
        assert client.run(1).run.conclusion is Conclusion.FAILURE
        assert client.tests(1, verdict=a_failure().verdict).tests == (a_failure(),)
        assert list(client.events(1)) == events_of(1, 3)
        assert list(client.events(1, after=2)) == events_of(1, 3)[2:]


def test_unknown_run_is_not_found(service: StandIn) -> None:
    """404 with an explanation."""
    with ApiClient(service.url) as client, pytest.raises(NotFound, match="run 7 is unknown"):
        client.run(7)


def test_every_request_carries_the_token_that_there_is(service: StandIn) -> None:
    """A service may want one for reading as well."""
    with ApiClient(service.url) as client:
        client.runs()
    with ApiClient(service.url, operator_token=TOKEN) as client:
        client.runs()
        assert service.read_tokens == ["", f"Bearer {TOKEN}"]
        assert client.rerun(1, failed=True).id == 99
        assert client.cancel(2).state is RunState.CANCELLED
    assert service.tokens == [f"Bearer {TOKEN}"] * 2


def test_wrong_token_says_where_the_right_one_is(service: StandIn) -> None:
    """401 becomes `Unauthorized`, with our hint when the service gives none."""
    with ApiClient(service.url, operator_token="wrong") as client, pytest.raises(Unauthorized) as refused:
        client.cancel(2)
    assert "RELAY_OPERATOR_TOKEN" in refused.value.hint
    assert "wrong" not in refused.value.hint


def test_conflict_keeps_the_hint_of_the_service(service: StandIn) -> None:
    """409 with the service's own words."""
    with ApiClient(service.url, operator_token=TOKEN) as client, pytest.raises(Conflict) as refused:
        client.rerun(2, failed=False)
    assert (refused.value.code, refused.value.hint) == ("not_finished", "cancel it first")


def test_nobody_listens() -> None:
    """A refused connection names the address and what to start."""
    with closed_port() as url, ApiClient(url) as client, pytest.raises(Unreachable) as failure:
        client.run(1)
    assert url in failure.value.message
    assert "relay up" in failure.value.hint


@pytest.mark.parametrize("url", ["", "relay.example", "ftp://relay.example", "http://[::1", "http://a b"])
def test_address_that_is_none(url: str) -> None:
    """Odd addresses are unreachable, not tracebacks."""
    with pytest.raises(Unreachable), ApiClient(url) as client:
        client.health()


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (httpx.Response(200, text="<html>"), BadReply),
        (httpx.Response(200, json={"runs": "many"}), BadReply),
        (httpx.Response(302, headers={"location": "http://elsewhere.invalid"}), BadReply),
        (httpx.Response(404, text="nginx"), BadReply),
        (httpx.Response(500, json={"code": "internal", "message": "broken"}), Refused),
        (httpx.Response(429, json={"code": "too_many", "message": "slower"}), Busy),
        (httpx.Response(503, text="<html>"), Busy),
        (httpx.Response(401, text="<html>"), Unauthorized),
    ],
)
def test_foreign_and_broken_answers(reply: httpx.Response, kind: type[Exception]) -> None:
    """What is not our API is told apart from what our API refuses."""
    with replying(reply) as client, pytest.raises(kind):
        client.runs()


def test_event_of_several_data_lines_is_one() -> None:
    """Data lines are joined, comments and unknown fields are passed over, a cut-off event is not delivered."""
    whole = events_of(1, 1)[0]
    text = whole.model_dump_json(indent=1).replace("\n", "\ndata: ")
    stream = f": ping\n\nretry: 5\ndata: {text}\n\ndata: cut off"
    reply = httpx.Response(200, headers={"content-type": "text/event-stream; charset=utf-8"}, text=stream)
    with replying(reply) as client:
        assert list(client.events(1)) == [whole]


def test_page_in_the_place_of_a_stream() -> None:
    """A proxy's page is no stream."""
    with replying(httpx.Response(200, text="hello")) as client, pytest.raises(BadReply):
        list(client.events(1))


@pytest.mark.parametrize(
    ("url", "here"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost", True),
        ("http://[::1]:80", True),
        ("http://127.0.0.1.evil.example", False),
        ("http://10.0.0.1", False),
        ("nonsense", False),
    ],
)
def test_loopback(url: str, here: bool) -> None:
    """Only this machine is this machine."""
    assert is_loopback(url) is here


def test_a_refusal_carries_the_number_of_its_request(service: StandIn) -> None:
    """Operators find it in the service's log; a request that never got there has none."""
    said: list[str] = []
    with ApiClient(service.url, operator_token=TOKEN, trace=said.append) as client, pytest.raises(Conflict) as refused:
        client.rerun(2, failed=False)
    assert refused.value.request_id == "request-7"
    assert said == ["POST /api/v1/runs/2/rerun -> 409 (request request-7)"]
    with closed_port() as url, ApiClient(url) as client, pytest.raises(Unreachable) as failure:
        client.runs()
    assert failure.value.request_id == ""
