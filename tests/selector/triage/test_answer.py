"""Only verdicts about offered ids come out of an answer."""

from __future__ import annotations

import json

import pytest

from selector.triage.answer import REASON_CAP, AnswerError, Opinion, Verdict, read_answer

OFFERED = {"t1", "t2"}


def verdict(short_id: object, word: object = "run", reason: object = "because") -> dict[str, object]:
    return {"id": short_id, "verdict": word, "reason": reason}


def answer_of(*entries: object) -> str:
    return json.dumps({"verdicts": entries})


def test_verdicts_are_read() -> None:
    answer = read_answer(answer_of(verdict("t1"), verdict("t2", "defer")), OFFERED)
    assert answer.opinions == {"t1": Opinion(Verdict.RUN, "because"), "t2": Opinion(Verdict.DEFER, "because")}
    assert (answer.unknown, answer.malformed) == (0, 0)


def test_text_and_code_fences_around_the_object_are_let_pass() -> None:
    text = f"Sure! Here you are:\n```json\n{answer_of(verdict('t1'))}\n```\n"
    assert read_answer(text, OFFERED).opinions.keys() == {"t1"}


def test_ids_that_were_not_offered_are_discarded_and_counted() -> None:
    answer = read_answer(answer_of(verdict("t1"), verdict("t99"), verdict("test/test_x.py::TestX::test_y")), OFFERED)
    assert answer.opinions.keys() == {"t1"}
    assert answer.unknown == 2


@pytest.mark.parametrize(
    "entry",
    [
        None,
        1,
        "t1",
        [],
        {},
        {"id": "t1"},
        verdict(1),
        verdict("t1", "delete"),
        verdict("t1", ["run"]),
        verdict("t1", "run", 5),
    ],
)
def test_malformed_verdicts_are_discarded_and_counted(entry: object) -> None:
    answer = read_answer(answer_of(entry, verdict("t2")), OFFERED)
    assert answer.opinions.keys() == {"t2"}
    assert answer.malformed == 1


def test_of_two_verdicts_the_safer_one_counts() -> None:
    for words in (("run", "defer"), ("defer", "run")):
        answer = read_answer(answer_of(*(verdict("t1", word) for word in words)), OFFERED)
        assert answer.opinions["t1"].verdict is Verdict.RUN


@pytest.mark.parametrize(
    "text", ["", "no JSON", '{"verdicts": [{"id": "t1", "verd', "[]", "{}", '{"verdicts": {}}', '{"a":' * 50_000 + "}"]
)
def test_what_is_no_answer_is_an_error(text: str) -> None:
    with pytest.raises(AnswerError):
        read_answer(text, OFFERED)


def test_reasons_are_one_capped_line() -> None:
    answer = read_answer(answer_of(verdict("t1", reason="a\nb\x1b[31m\u202ec " + "x" * 9_000)), OFFERED)
    reason = answer.opinions["t1"].reason
    assert reason.startswith("a b [31m c x")
    assert len(reason) == REASON_CAP


def test_half_of_a_surrogate_pair_in_a_reason_can_be_reported() -> None:
    text = '{"verdicts": [{"id": "t1", "verdict": "run", "reason": "a\\ud800b"}]}'
    assert read_answer(text, {"t1"}).opinions["t1"].reason == "a?b"


def test_evidence_is_kept_where_it_exists_and_counted_where_it_does_not() -> None:
    entry = {"id": "t1", "verdict": "defer", "reason": "", "evidence": ["f1", "f9", "f1", 3]}
    answer = read_answer(json.dumps({"verdicts": [entry]}), {"t1"}, {"f1"})
    assert (answer.opinions["t1"].evidence, answer.invented) == (("f1",), 1)
    assert answer.opinions["t1"].verdict is Verdict.DEFER
    baseless = read_answer(json.dumps({"verdicts": [{**entry, "evidence": ["f9"]}]}), {"t1"}, {"f1"})
    assert baseless.opinions["t1"].verdict is Verdict.UNSURE
