"""The service's own rows become observations; what is no result is refused in a sentence."""

from __future__ import annotations

import json

import pytest

from relay.contract import Attempt, Expected, Observation, Tree
from relay.views import TestPage, TestView, Verdict
from selector.manifests.authoring.result_files import MAX_RESULT_BYTES, read_results
from selector.manifests.authoring.results import Naming, ObservedTest, ResultsError, no_source_names

ID = "test/test_a.py::TestFooSPYRE::test_x_add_spyre_float32"


def a_row(*attempts: Attempt, base: str = "test/test_a.py::TestFoo::test_x") -> TestView:
    last = attempts[-1] if attempts else None
    return TestView(
        id=ID,
        file="test/test_a.py",
        base=base,
        expected=Expected.XFAIL,
        rule="listed",
        provenance="m.yaml:3",
        tags=(),
        shard_id=4,
        verdict=Verdict.XPASS,
        observation=last.observation if last else None,
        duration_s=last.duration_s if last else None,
        detail="",
        attempts=attempts,
    )


def attempt(observation: Observation, tree: Tree = Tree.HEAD, number: int = 1) -> Attempt:
    return Attempt(tree=tree, number=number, observation=observation, duration_s=0.5, detail="why")


def read(value: object) -> tuple[ObservedTest, ...]:
    return read_results("r.json", json.dumps(value).encode(), Naming("spyre", no_source_names))


def test_a_page_of_the_service_is_read_with_every_attempt() -> None:
    row = a_row(attempt(Observation.FAILED), attempt(Observation.PASSED, number=2))
    found = read(TestPage(tests=(row,), total=1).model_dump(mode="json"))
    assert [item.observation.value for item in found] == ["failed", "passed"]
    assert {(item.id, item.cls, item.base, item.base_known) for item in found} == {(ID, "TestFoo", "test_x", True)}
    assert (found[0].detail, found[0].duration_s, found[0].at, found[0].run) == ("why", 0.5, None, "r.json")


def test_a_test_that_also_ran_on_the_base_commit_is_read_from_there() -> None:
    row = a_row(attempt(Observation.FAILED), attempt(Observation.PASSED, Tree.BASE))
    (found,) = read([row.model_dump(mode="json")])
    assert found.observation.value == "passed"


def test_run_and_shards_tell_when_and_where() -> None:
    row = a_row(attempt(Observation.PASSED)).model_dump(mode="json")
    run = {"id": 12, "finished_at": "2026-08-01T10:00:00Z", "created_at": "2026-08-01T09:00:00Z"}
    (found,) = read({"run": run, "shards": [{"id": 4, "worker": "lab1"}], "tests": [row]})
    assert (found.run, found.machine) == ("run 12", "lab1")
    assert found.at is not None
    assert found.at.isoformat() == "2026-08-01T10:00:00+00:00"


def test_a_test_that_only_its_file_describes_is_named_by_its_id() -> None:
    (found,) = read([a_row(attempt(Observation.PASSED), base="test/test_a.py").model_dump(mode="json")])
    assert (found.base, found.base_known) == ("test_x_add", False)


def test_a_planned_test_without_a_result_is_no_observation() -> None:
    assert read([a_row().model_dump(mode="json")]) == ()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "neither JUnit XML nor JSON"),
        (b"hello", "neither JUnit XML nor JSON"),
        (b"{", "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b"{}", "holds no list of tests"),
        (b"[3]", "test 1 in r.json is not a mapping"),
        (b'[{"observation": "passed"}]', "test 1 in r.json has no `id`"),
        (b'[{"id": "x", "observation": "passed"}]', "test 1 in r.json is not `file::Class::method`"),
        (b'[{"id": "a.py::t", "observation": "fine"}]', "test 1 in r.json has no observation that is known"),
        (b" " * (MAX_RESULT_BYTES + 1), "larger than 64 MiB"),
    ],
)
def test_what_is_no_results_file_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(ResultsError, match=sentence):
        read_results("r.json", data, Naming("spyre", no_source_names))
