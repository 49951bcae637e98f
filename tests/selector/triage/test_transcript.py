"""A transcript plays back what was recorded, and nothing else."""

from __future__ import annotations

import json

import pytest

from selector.triage import Budget, LlmError, RecordedClient, RecordingClient, Sources, TranscriptError
from selector.triage.conversation import Reply, Request, ToolCall, Usage
from selector.triage.transcript import digest
from tests.selector.triage.example import FILES, judge, verdicts
from tests.selector.upstream import MemoryTree

IDS = ("t1", "t2", "t3", "t4")


class Scripted:
    """Gives the replies in order; an error is raised. The last one is given for ever."""

    def __init__(self, *replies: Reply | LlmError) -> None:
        self._replies = list(replies)

    def complete(self, messages: object, schema: object) -> str:
        raise AssertionError("asked once although it takes tools")

    def converse(self, request: Request) -> Reply:
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if isinstance(reply, LlmError):
            raise reply
        return reply


LOOKS = Reply(
    "looking", (ToolCall("a", "grep", {"text": "gelu"}), ToolCall("b", "test_history", {"test": "t1"})), Usage(900, 30)
)
ANSWERS = Reply(verdicts("defer", *IDS, evidence=["call00001"]), (), Usage(1_200, 80))


def record(*replies: Reply | LlmError) -> list[str]:
    lines: list[str] = []
    judge(RecordingClient(Scripted(*replies), "m-1", lines.append))
    return lines


def test_what_was_recorded_is_played_back_with_the_same_result() -> None:
    lines = record(LOOKS, ANSWERS)
    recorded = judge(RecordedClient.of(lines))
    assert recorded == judge(Scripted(LOOKS, ANSWERS))
    assert recorded == judge(RecordedClient.of(lines))
    assert recorded.notes == ("the model looked up 2 things in 1 rounds",)


def test_a_line_holds_the_question_by_digest_the_calls_and_the_tokens() -> None:
    first, second = (json.loads(line) for line in record(LOOKS, ANSWERS))
    assert (first["model"], first["version"], len(first["prompt"])) == ("m-1", 1, 64)
    assert [call["name"] for call in first["calls"]] == ["grep", "test_history"]
    assert first["usage"] == {"input": 900, "output": 30}
    assert [result["call"] for result in second["results"]] == ["call00001", "call00002"]
    assert first["prompt"] != second["prompt"]


def test_long_answers_of_tools_are_kept_in_part() -> None:
    lines: list[str] = []
    tree = MemoryTree({**FILES, "torch/x.py": ("gelu " * 40 + "\n") * 400})
    client = RecordingClient(Scripted(LOOKS, ANSWERS), "m", lines.append)
    judge(client, sources=Sources(tree))
    assert max(len(result["text"]) for result in json.loads(lines[1])["results"]) == 500


def test_another_question_has_no_recorded_answer() -> None:
    lines = record(LOOKS, ANSWERS)
    changed = judge(RecordedClient.of(lines), sources=Sources(MemoryTree({"torch/x.py": "gelu = 2\n"})))
    assert "no recorded answer to this question; the offline ranker decided instead" in changed.notes
    without = judge(RecordedClient.of(lines), budget=Budget(calls=3))
    assert without.notes == ("no recorded answer to this question; the offline ranker decided instead",)


def test_failures_are_recorded_too() -> None:
    lines = record(LOOKS, LlmError("model timed out"))
    assert json.loads(lines[1])["error"] == "model timed out"
    assert judge(RecordedClient.of(lines)).notes[0] == "model timed out; the offline ranker decided instead"


def test_the_same_question_asked_again_gets_the_next_answer() -> None:
    request = Request((), (), {}, 10, 1.0)
    lines: list[str] = []
    client = RecordingClient(Scripted(Reply("one"), Reply("two")), "m", lines.append)
    client.converse(request)
    client.converse(request)
    played = RecordedClient.of(lines)
    assert [played.converse(request).text for _ in range(3)] == ["one", "two", "two"]


def test_limits_are_no_part_of_the_question() -> None:
    assert digest(Request((), (), {}, 10, 1.0)) == digest(Request((), (), {}, 20, 2.0))
    assert digest(Request((), (), {}, 10, 1.0)) != digest(Request((), (), {}, 10, 1.0, may_call=False))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("nonsense", "line 2 is no line of a transcript"),
        ("[]", "line 2 is no line of a transcript"),
        ('{"version": 1}', "line 2 is no line of a transcript"),
        ('{"version": 9, "prompt": "x", "error": "x", "kind": "model"}', "line 2 is of another version of transcripts"),
        ('{"version": 1, "prompt": "x", "text": "", "calls": [1], "usage": {}}', "line 2 is no line of a transcript"),
        ("[" * 100_000, "line 2 is no line of a transcript"),
    ],
)
def test_a_broken_line_is_named(line: str, fault: str) -> None:
    with pytest.raises(TranscriptError) as raised:
        RecordedClient.of(["", line])
    assert str(raised.value) == fault
