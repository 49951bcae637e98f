"""The loop around a model looks up what it may, answers when it must, and ends within its budget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from selector.triage import AnthropicClient, Budget, LlmClient, OpenAiClient
from selector.types import StageResult
from tests.selector.triage.example import judge, verdicts
from tests.selector.triage.model_server import Heard, ModelServer, Says

IDS = ("t1", "t2", "t3", "t4")
Make = Callable[[str], "OpenAiClient | AnthropicClient"]


def openai(url: str) -> OpenAiClient:
    return OpenAiClient(url, "m", "secret-key", 10.0)


def anthropic(url: str) -> AnthropicClient:
    return AnthropicClient(url, "m", "secret-key", 10.0)


@pytest.fixture(params=[openai, anthropic])
def make(request: pytest.FixtureRequest) -> Make:
    chosen: Make = request.param
    return chosen


@contextmanager
def asking(make: Make, server: ModelServer) -> Iterator[LlmClient]:
    with server.serving() as url:
        client = make(url)
        yield client
        client.close()


def run(make: Make, server: ModelServer, budget: Budget | None = None) -> StageResult:
    with asking(make, server) as client:
        return judge(client, budget=budget)


def rules(result: StageResult) -> list[str]:
    everything = (*result.kept, *result.dropped)
    return sorted({candidate.reasons[-1].rule for candidate in everything if not candidate.must_run})


def test_a_model_looks_things_up_and_cites_them(make: Make) -> None:
    def brain(heard: Heard) -> Says:
        if not heard.results:
            calls = (("read_file", {"path": "torch/x.py"}), ("grep", {"text": "gelu", "under": "test/"}))
            return Says(calls=calls)
        assert heard.results[0].startswith("1: def gelu(a):")
        assert heard.results[1].startswith("test/test_a.py:")
        return Says(verdicts("defer", *IDS, evidence=["f1", "call00002"]))

    server = ModelServer(brain)
    result = run(make, server)
    assert [heard.may_call for heard in server.heard] == [True, True]
    (evidence,) = {candidate.reasons[-1].evidence for candidate in result.dropped}
    assert evidence == "says defer [torch/x.py, grep call00002]"
    assert result.notes == ("the model looked up 2 things in 1 rounds",)


def test_a_model_that_never_stops_looking_is_made_to_answer(make: Make) -> None:
    """After the last round it may call no more; one that still does has given no answer."""

    def brain(heard: Heard) -> Says:
        return Says(calls=(("diff_hunk", {"file": "f1"}),)) if heard.may_call else Says(verdicts("run", *IDS))

    server = ModelServer(brain)
    result = run(make, server)
    assert [heard.may_call for heard in server.heard] == [True, True, True, False]
    assert rules(result) == ["model: run"]


def test_calls_over_the_limit_are_refused_and_not_made(make: Make) -> None:
    greedy = tuple(("read_file", {"path": "torch/x.py"}) for _ in range(50))

    def brain(heard: Heard) -> Says:
        return Says(calls=greedy) if heard.may_call else Says(verdicts("run", *IDS))

    server = ModelServer(brain)
    result = run(make, server)
    answered = server.heard[-1].results
    assert sum(text.startswith("1: def") for text in answered) == 8
    assert answered[8:] == ("error: no more calls are allowed; answer now",)
    assert "the model looked up 8 things in 1 rounds" in result.notes


def test_a_model_that_calls_when_it_may_not_falls_back(make: Make) -> None:
    server = ModelServer(lambda _: Says(calls=(("grep", {"text": "gelu"}),)))
    result = run(make, server)
    assert "model answered no usable JSON, twice; the offline ranker decided instead" in result.notes
    assert len(server.heard) == 5


def test_an_unusable_answer_is_repaired_once_without_tools(make: Make) -> None:
    def brain(heard: Heard) -> Says:
        return Says(verdicts("run", *IDS)) if "cannot be used" in heard.question else Says("let me think")

    server = ModelServer(brain)
    assert rules(run(make, server)) == ["model: run"]
    assert [heard.may_call for heard in server.heard] == [True, False]


def test_a_server_without_tools_is_asked_once(make: Make) -> None:
    server = ModelServer(lambda _: Says(verdicts("run", *IDS)), takes_tools=False)
    assert rules(run(make, server)) == ["model: run"]
    assert [heard.tools for heard in server.heard] == [()]


@pytest.mark.parametrize(
    ("server", "why"),
    [
        (ModelServer(lambda _: Says(), status=500), "model answered HTTP 500"),
        (ModelServer(lambda _: Says(), status=400), "model answered HTTP 400"),
        (ModelServer(lambda _: Says(), status=529), "model answered HTTP 529"),
        (ModelServer(lambda _: Says()), "model answer has no text"),
        (ModelServer(lambda _: Says("{}", cut_off=True)), "model answer cut off"),
    ],
)
def test_every_failure_is_the_offline_result_and_says_so(make: Make, server: ModelServer, why: str) -> None:
    result, reference = run(make, server), judge(None)
    assert [it.test for it in result.kept] == [it.test for it in reference.kept]
    assert [it.score for it in result.kept] == [it.score for it in reference.kept]
    assert result.notes == (f"{why}; the offline ranker decided instead",)


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (Budget(tokens=100), "token budget of the model spent"),
        (Budget(wall_s=0), "time budget of the model spent"),
        (Budget(money=0.01, price_out=10.0), "money budget of the model spent"),
    ],
)
def test_a_budget_too_small_to_ask_is_not_overdrawn(make: Make, budget: Budget, why: str) -> None:
    server = ModelServer(lambda _: Says(verdicts("run", *IDS)))
    result = run(make, server, budget)
    assert server.bodies == []
    assert result.notes == (f"{why}; the offline ranker decided instead",)


def test_a_budget_that_runs_out_on_the_way_ends_the_talk(make: Make) -> None:
    server = ModelServer(lambda _: Says("x" * 30_000, calls=(("grep", {"text": "gelu"}),)))
    result = run(make, server, Budget(tokens=12_000, answer_tokens=4_000))
    assert len(server.bodies) == 1
    assert "token budget of the model spent; the offline ranker decided instead" in result.notes


def test_the_answer_is_bounded_by_what_is_left(make: Make) -> None:
    server = ModelServer(lambda _: Says(verdicts("run", *IDS)))
    run(make, server, Budget(answer_tokens=1_234))
    assert server.heard[0].answer_tokens == 1_234


def test_a_budget_without_calls_offers_no_tools(make: Make) -> None:
    server = ModelServer(lambda _: Says(verdicts("run", *IDS)))
    run(make, server, Budget(calls=0))
    assert server.heard[0].tools == ()
    assert "tools" not in server.heard[0].system


def test_invented_evidence_makes_a_deferral_unsure(make: Make) -> None:
    server = ModelServer(lambda _: Says(verdicts("defer", *IDS, evidence=["f99", "call00001"])))
    result = run(make, server)
    assert rules(result) == ["model: unsure"]
    assert result.notes == ("8 pieces of evidence that the model named do not exist; they were discarded",)


def test_the_key_goes_where_the_provider_wants_it() -> None:
    server = ModelServer(lambda _: Says(verdicts("run", *IDS)))
    run(openai, server)
    run(anthropic, server)
    assert server.headers[0]["authorization"] == "Bearer secret-key"
    assert (server.headers[1]["x-api-key"], server.headers[1]["anthropic-version"]) == ("secret-key", "2023-06-01")
    assert "authorization" not in server.headers[1]
