"""A backend's verdict on its own failure, as it is kept and forwarded (TV)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.conformance.answering import answer, dispatched, jobs, report, results
from tests.conformance.world import World

MINIMAL: dict[str, Any] = {"schema_version": 1, "category": "upstream", "confidence": "low", "summary": "It broke."}
FULL: dict[str, Any] = MINIMAL | {
    "confidence": "high",
    "suspected_upstream": {"pr": 12, "commit": "0123abc", "reason": "touches the same kernel"},
    "evidence": [{"job": "build", "test": "test_add", "excerpt": "1 != 2", "log_url": "https://ci.example/log?line=7"}],
    "reproduced_on_retry": True,
    "analyzer": {"name": "triage", "version": "1", "model": "m", "prompt_version": "3"},
    "analyzed_at": "2026-11-02T09:31:00Z",
}


def kept(world: World, verdict: object) -> Any:
    """What is left of a verdict in the record, in the results and on the way to the HUD; all three are the same."""
    dispatched(world)
    report(world)
    body = answer(world, "completed", conclusion="failure", triage_verdict=verdict)
    assert world.callback(body).json() == {"ok": True, "status": "completed"}
    world.drain()
    (job,), (row,), (_, posted) = jobs(world), results(world), world.hud.posts
    found = job.callback["workflow"].get("triage_verdict")
    assert posted["untrusted"]["callback_payload"]["workflow"].get("triage_verdict") == found
    assert row.triage_verdict == found
    assert without_verdict(job.callback) == without_verdict(body)
    return found


def without_verdict(body: Mapping[str, Any]) -> dict[str, Any]:
    """All the rest of a callback, which a verdict changes nothing of."""
    return {**body, "workflow": {key: told for key, told in body["workflow"].items() if key != "triage_verdict"}}


@pytest.mark.row("TV01")
def test_a_full_verdict_is_kept_unchanged(world: World) -> None:
    """Every field that the form knows."""
    assert kept(world, FULL) == FULL


@pytest.mark.row("TV02")
def test_four_fields_are_enough(world: World) -> None:
    """Version, category, confidence and summary."""
    assert kept(world, MINIMAL) == MINIMAL


@pytest.mark.row("TV03")
def test_no_verdict_is_no_matter(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """And no warning."""
    assert kept(world, None) is None
    assert "triage_verdict" not in capsys.readouterr().out


@pytest.mark.row("TV04")
def test_unknown_keys_are_dropped(world: World) -> None:
    """And the verdict is kept."""
    assert kept(world, MINIMAL | {"mood": "gloomy"}) == MINIMAL


@pytest.mark.row("TV05")
def test_the_version_may_be_text(world: World) -> None:
    """As numbers often are in a shell."""
    assert kept(world, MINIMAL | {"schema_version": "1"}) == MINIMAL


@pytest.mark.row("TV06")
@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"schema_version": True},
        {"schema_version": None},
        {"category": "weather"},
        {"category": 1},
        {"confidence": "certain"},
        {"confidence": None},
        {"summary": ""},
        {"summary": 7},
        {"suspected_upstream": [12]},
        {"evidence": {"job": "build"}},
        {"evidence": ["it broke"]},
        {"reproduced_on_retry": "yes"},
        {"analyzer": "triage"},
        {"analyzed_at": "yesterday"},
    ],
)
def test_a_structural_error_drops_the_verdict_and_not_the_report(world: World, change: dict[str, Any]) -> None:
    """The whole verdict."""
    assert kept(world, {**FULL, **change}) is None


@pytest.mark.row("TV06")
@pytest.mark.parametrize("verdict", ["upstream", 5, [MINIMAL], True])
def test_what_is_no_object_is_no_verdict(world: World, verdict: object) -> None:
    """The report is taken all the same."""
    assert kept(world, verdict) is None


@pytest.mark.row("TV07")
@pytest.mark.parametrize("change", [{"category": "backend"}, {"suspected_upstream": {"reason": "a feeling"}}])
def test_a_suspect_fits_its_verdict(world: World, change: dict[str, Any]) -> None:
    """Only an upstream failure has one, and it names a pull request or a commit."""
    assert kept(world, FULL | change) is None


@pytest.mark.row("TV08")
@pytest.mark.parametrize(
    "suspect", [{"pr": "12"}, {"pr": True}, {"pr": 0}, {"commit": "nothexx"}, {"commit": "012345"}]
)
def test_a_suspect_has_its_form(world: World, suspect: dict[str, Any]) -> None:
    """A positive number, or at least seven hexadecimal digits."""
    assert kept(world, FULL | {"suspected_upstream": suspect}) is None


@pytest.mark.row("TV09")
def test_a_commit_alone_is_a_suspect(world: World) -> None:
    """The pull request need not be known."""
    suspected = MINIMAL | {"suspected_upstream": {"commit": "0123abc"}}
    assert kept(world, suspected) == suspected


@pytest.mark.row("TV10")
@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://user:pass@ci.example/",
        "https://ci.example/\nx",
        "https://ci.example/a b",
        "https://",
    ],
)
def test_a_log_is_behind_a_plain_web_address(world: World, url: str) -> None:
    """Anything that can be read in two ways drops the verdict."""
    assert kept(world, MINIMAL | {"evidence": [{"log_url": url}]}) is None


@pytest.mark.row("TV11")
def test_long_texts_are_cut(world: World) -> None:
    """Length alone costs nobody the verdict."""
    evidence = [{"excerpt": "e" * 1_500}, *({"test": str(number)} for number in range(14))]
    found = kept(world, MINIMAL | {"summary": "s" * 1_500, "evidence": evidence})
    assert len(found["summary"]) == 1_000
    assert len(found["evidence"]) == 10
    assert len(found["evidence"][0]["excerpt"]) == 1_000


@pytest.mark.row("TV12")
def test_a_verdict_over_its_size_is_dropped(world: World) -> None:
    """Wherever the weight is."""
    assert kept(world, MINIMAL | {"mood": "g" * 17_000}) is None


@pytest.mark.row("TV13")
def test_empty_evidence_and_analyzer_are_left_out(world: World) -> None:
    """An empty box says nothing."""
    assert kept(world, MINIMAL | {"evidence": [], "analyzer": {}}) == MINIMAL
