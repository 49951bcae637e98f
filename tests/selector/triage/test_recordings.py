"""The loop plays recorded transcripts back without a server, to the same result, whatever wire they came over."""

from __future__ import annotations

import json

import pytest

from selector.triage import RecordedClient
from selector.types import StageResult
from tests.selector.triage.example import judge
from tests.selector.triage.recordings import FOLDER, RECORDINGS, WIRES, recorded_now

STALE = "the prompt, a tool or the example changed; run `python -m tests.selector.triage.recordings`"


def lines(name: str) -> list[str]:
    return (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()


def played(name: str) -> StageResult:
    return judge(RecordedClient.of(lines(name)))


@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("name", RECORDINGS)
def test_a_played_transcript_ends_like_the_recorded_talk(name: str, wire: str) -> None:
    _, live = recorded_now(name, wire)
    assert played(name) == live, STALE


def test_a_transcript_shows_what_was_looked_up() -> None:
    turns = [json.loads(line) for line in lines("looks_and_cites")]
    assert [len(turn["calls"]) for turn in turns] == [4, 3, 0]
    shown = {result["call"]: result["text"] for turn in turns for result in turn["results"]}
    assert shown["call00001"] == "1: -a\n2: +b"
    assert shown["call00002"].startswith("1: def gelu(a):")
    assert "in the operator database" in shown["call00004"]
    assert shown["call00007"] == "no manifests are in use"


def test_the_results_of_the_transcripts() -> None:
    """What each of them is there to show."""
    assert played("looks_and_cites").kept[-1].reasons[-1].evidence == "says run [torch/x.py, symbol_refs call00003]"
    assert "the model looked up 8 things in 2 rounds" in played("never_stops").notes
    assert {it.reasons[-1].rule for it in played("talks_and_is_corrected").kept[2:]} == {"model: unsure"}
    assert played("reaches_out").notes == (
        "model answered no usable JSON, twice; the offline ranker decided instead",
        "the model looked up 8 things in 3 rounds",
    )


def test_what_reached_out_was_told_no() -> None:
    texts = {result["text"] for line in lines("reaches_out") for result in json.loads(line)["results"]}
    assert texts == {
        "error: the tree has no such path",
        "error: there is no tool of this name",
        "error: text has to be 3 characters or more on one line",
        "error: no more calls are allowed; answer now",
    }
