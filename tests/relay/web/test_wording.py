"""Every state has its words, and numbers read well."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.contract import Expected, Observation, TestedOn
from relay.store.models import ShardState
from relay.views import Conclusion, RunState, Verdict, WeakSandbox
from relay.web import wording

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


def test_no_state_is_without_words() -> None:
    assert wording.VERDICT_WORDS.keys() == set(Verdict)
    assert wording.CONCLUSION_WORDS.keys() == set(Conclusion)
    assert wording.STATE_WORDS.keys() == set(RunState)
    assert wording.SHARD_WORDS.keys() == set(ShardState)
    assert wording.EXPECTED_WORDS.keys() == set(Expected)
    assert wording.OBSERVATION_WORDS.keys() == set(Observation)


def test_no_two_verdicts_look_alike() -> None:
    words = wording.VERDICT_WORDS.values()
    assert len({word.glyph for word in words}) == len({word.word for word in words}) == len(Verdict)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        *((None, "\N{EN DASH}"), (0.004, "4 ms"), (0.25, "0.2 s"), (9.96, "10.0 s"), (41, "41 s")),
        *((59.7, "1 min 0 s"), (125, "2 min 5 s"), (3780, "1 h 3 min")),
    ],
)
def test_durations(seconds: float | None, shown: str) -> None:
    assert wording.duration(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(-5, "0 s ago"), (7, "7 s ago"), (61, "1 min ago"), (7_200, "2 h ago"), (200_000, "2 d ago")],
)
def test_ages(seconds: int, shown: str) -> None:
    assert wording.age(NOW - timedelta(seconds=seconds), NOW) == shown


@pytest.mark.parametrize(
    ("part", "whole", "share"),
    [(0, 0, 0), (0, 5, 0), (5, 5, 100), (1, 40_000, 1.5), (39_999, 40_000, 98.5), (1, 4, 25)],
)
def test_bars_never_hide_something_or_claim_everything(part: int, whole: int, share: float) -> None:
    assert wording.share_of(part, whole) == share


def test_counts_agree_with_their_noun() -> None:
    crash, ok = wording.VERDICT_WORDS[Verdict.CRASH], wording.VERDICT_WORDS[Verdict.OK]
    assert [crash.counted(1), crash.counted(2), ok.counted(2)] == ["1 crash", "2 crashes", "2 ok"]
    assert wording.number(1234567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"


@pytest.mark.parametrize("sandbox", ["bubblewrap", "bubblewrap 0.8"])
def test_a_whole_sandbox_looks_well(sandbox: str) -> None:
    word = wording.sandbox_word(TestedOn(name="default", torch_version="2.13.0", sandbox=sandbox))
    assert word is not None
    assert (word.tone, word.word) == ("good", sandbox)


@pytest.mark.parametrize("sandbox", ["none: no bwrap", "none", "x", "landlock: no bwrap", "bubblewrap: any call"])
def test_only_a_whole_sandbox_looks_well(sandbox: str) -> None:
    """Whatever a worker lacks is told in words, with its name and on how much of the run it worked."""
    assert wording.sandbox_word(TestedOn(name="default", torch_version="2.13.0", sandbox=sandbox)) is None
    weak = WeakSandbox(worker="w1", shards=2, sandbox=sandbox)
    word = wording.weak_sandbox_word(weak)
    lacking = "not in a sandbox" if sandbox.startswith("none") else "not in a whole sandbox"
    assert (word.tone, word.glyph, word.word) == ("warn", "⚠", lacking)
    assert wording.weak_sandbox_sentence(weak) == f"w1, 2 shards: {sandbox}"
    assert wording.weak_sandbox_sentence(weak.model_copy(update={"shards": 1})) == f"w1, 1 shard: {sandbox}"
    assert wording.weak_sandbox_sentence(weak.model_copy(update={"worker": ""})) == sandbox


def test_what_the_worker_did_not_say_is_not_shown() -> None:
    tested = TestedOn(name="default", torch_version="2.13.0")
    assert wording.environment(tested) == "tested on default, torch 2.13.0"
    assert wording.sandbox_word(tested) is None
