"""What is kept of a backend's verdict on its own failure (crcr-protocol 1.12)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.crcr.triage_verdict import clean_verdict, with_clean_verdict

MINIMAL: dict[str, Any] = {"schema_version": 1, "category": "backend", "confidence": "low", "summary": "It broke."}
FULL: dict[str, Any] = {
    "schema_version": 1,
    "category": "upstream",
    "confidence": "high",
    "summary": "The operator changed its rounding.",
    "suspected_upstream": {"pr": 12, "commit": "0123abc", "reason": "touches the same kernel"},
    "evidence": [{"job": "build", "test": "test_add", "excerpt": "1 != 2", "log_url": "https://ci.example/log?line=7"}],
    "reproduced_on_retry": False,
    "analyzer": {"name": "triage", "version": "1", "model": "m", "prompt_version": "3"},
    "analyzed_at": "2026-11-02T09:31:00Z",
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_full_verdict_stays_as_it_is() -> None:
    """Nothing that the form knows is changed."""
    assert clean_verdict(FULL) == FULL


def test_the_four_required_fields_are_enough() -> None:
    """Everything else may be absent, or null."""
    assert clean_verdict(MINIMAL) == MINIMAL
    assert clean_verdict(MINIMAL | dict.fromkeys(FULL.keys() - MINIMAL.keys())) == MINIMAL


@pytest.mark.parametrize("key", sorted(MINIMAL))
def test_each_required_field_is_required(key: str) -> None:
    """Without one of them there is no verdict."""
    assert clean_verdict({name: value for name, value in MINIMAL.items() if name != key}) is None


def test_unknown_keys_are_dropped_at_every_level() -> None:
    """A newer form may hold more; what is not known is not kept."""
    extra = {"x": 1}
    given_one = FULL | extra
    for key in ("suspected_upstream", "analyzer"):
        given_one[key] = FULL[key] | extra
    given_one["evidence"] = [FULL["evidence"][0] | extra]
    assert clean_verdict(given_one) == FULL


@pytest.mark.parametrize("version", ["1", 1.0, " 1 "])
def test_the_version_may_be_numeric_text(version: object) -> None:
    """It comes out as the number."""
    assert clean_verdict(MINIMAL | {"schema_version": version}) == MINIMAL


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"schema_version": True},
        {"schema_version": "one"},
        {"category": "weather"},
        {"category": ["backend"]},
        {"confidence": "certain"},
        {"confidence": 1},
        {"summary": ""},
        {"summary": "  \n"},
        {"summary": 7},
        {"evidence": {}},
        {"evidence": ["text"]},
        {"evidence": [{"job": 5}]},
        {"reproduced_on_retry": "yes"},
        {"reproduced_on_retry": 1},
        {"analyzer": "triage"},
        {"analyzer": {"name": 1}},
        {"analyzed_at": "yesterday"},
        {"analyzed_at": 1_700_000_000},
        {"suspected_upstream": []},
    ],
)
def test_a_structural_error_drops_the_whole_verdict(change: dict[str, object]) -> None:
    """A half of a verdict would say what nobody said."""
    assert clean_verdict({**FULL, **change}) is None


@pytest.mark.parametrize("value", ["text", 5, True, [], [MINIMAL]])
def test_what_is_no_object_is_no_verdict(value: object) -> None:
    """Whatever else it is."""
    assert clean_verdict(value) is None


def test_only_an_upstream_verdict_suspects_upstream() -> None:
    """With another category the two contradict each other."""
    assert clean_verdict(FULL | {"category": "backend"}) is None


@pytest.mark.parametrize(
    "suspect",
    [
        {},
        {"reason": "a feeling"},
        {"pr": "12"},
        {"pr": True},
        {"pr": 0},
        {"pr": -1},
        {"pr": 1.5},
        {"commit": "012345g"},
        {"commit": "012345"},
        {"commit": "0" * 41},
        {"commit": 1234567},
    ],
)
def test_a_suspect_is_a_pull_request_or_a_commit(suspect: dict[str, object]) -> None:
    """And each of them in its own form."""
    assert clean_verdict(FULL | {"suspected_upstream": suspect}) is None


def test_a_commit_alone_is_a_suspect() -> None:
    """The pull request need not be known."""
    clean = clean_verdict(FULL | {"suspected_upstream": {"commit": "ABCDEF0"}})
    assert clean is not None
    assert clean["suspected_upstream"] == {"commit": "ABCDEF0"}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://user:pass@ci.example/",
        "https://user@ci.example/",
        "https://ci.example/\nx",
        "https://ci.example/a b",
        "https://ci.example/\x7f",
        "https://ci.example/\u2028",
        "https://",
        "https:///path",
        "//ci.example/",
        "ftp://ci.example/",
        "https://[broken/",
        "https://ci.example/" + "a" * 500,
        "",
        7,
    ],
)
def test_a_log_is_behind_a_plain_web_address(url: object) -> None:
    """Anything that a browser could read in two ways is refused, and an address is never cut."""
    assert clean_verdict(MINIMAL | {"evidence": [{"log_url": url}]}) is None


def test_long_texts_are_cut_and_evidence_is_bounded() -> None:
    """Length alone costs nobody the verdict."""
    long = {
        "summary": "s" * 1_500,
        "evidence": [{"job": "j" * 300, "test": "t" * 300, "excerpt": "e" * 100} for _ in range(14)]
        + [{"excerpt": "e" * 1_100}],
    }
    clean = clean_verdict(MINIMAL | long | {"analyzer": {"name": "n" * 300}})
    assert clean is not None
    assert len(clean["summary"]) == 1_000
    assert len(clean["evidence"]) == 10
    assert {len(entry["job"]) for entry in clean["evidence"]} == {200}
    assert len(clean["analyzer"]["name"]) == 200
    excerpt = clean_verdict(MINIMAL | {"evidence": [{"excerpt": "e" * 1_500}]})
    assert excerpt is not None
    assert len(excerpt["evidence"][0]["excerpt"]) == 1_000


def test_a_verdict_over_its_size_is_dropped() -> None:
    """16 KiB as compact UTF-8, wherever the weight is; a byte less passes."""
    room = 16 * 1024 - len(json.dumps(MINIMAL | {"x": ""}, separators=(",", ":")).encode())
    assert clean_verdict(MINIMAL | {"x": "a" * room}) == MINIMAL
    assert clean_verdict(MINIMAL | {"x": "a" * (room + 1)}) is None
    assert clean_verdict(MINIMAL | {"x": "\N{EURO SIGN}" * (room // 3 + 1)}) is None


def test_empty_evidence_and_analyzer_are_left_out() -> None:
    """An empty box says nothing."""
    assert clean_verdict(MINIMAL | {"evidence": [], "analyzer": {}}) == MINIMAL
    assert clean_verdict(MINIMAL | {"evidence": [{}, {"unknown": 1}]}) == MINIMAL


@given(st.dictionaries(st.sampled_from(sorted(FULL)), JSON).map(lambda change: FULL | change))
def test_no_verdict_is_more_than_the_form_allows(value: dict[str, Any]) -> None:
    """Whatever comes, what is kept is of the form: cleaning it again changes nothing."""
    clean = clean_verdict(value)
    assert clean is None or clean_verdict(clean) == clean


def test_a_body_is_cleaned_in_place_of_its_verdict_only() -> None:
    """Of a callback nothing else changes; a malformed verdict is gone from it."""
    body = {"delivery_id": "d", "workflow": {"status": "completed", "triage_verdict": FULL | {"x": 1}}}
    assert with_clean_verdict(body) == {"delivery_id": "d", "workflow": {"status": "completed", "triage_verdict": FULL}}
    body["workflow"]["triage_verdict"] = "a feeling"  # type: ignore[index]  # the value is an object, see above
    assert with_clean_verdict(body) == {"delivery_id": "d", "workflow": {"status": "completed"}}
    plain = {"workflow": {"status": "completed"}}
    assert with_clean_verdict(plain) == plain
