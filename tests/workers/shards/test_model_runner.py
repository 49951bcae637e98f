"""Tests of whole models run beside those of files: by their checks, against the CPU's answer on base."""

from __future__ import annotations

from pathlib import Path

import pytest

from relay.contract import Expected, ModelOrder, Observation, TestOrder, TestResult
from selector.manifests import ManifestDocument, load_manifests
from selector.manifests.models import ModelCheck
from tests.workers.scripted_runner import BASE, HEAD, F, ScriptedRunner
from workers.models.references import References
from workers.runner.types import Answer, RunnerTree
from workers.shards.discreet_runner import DiscreetRunner
from workers.shards.model_runner import ModelRunner, UnknownCheckError, checks_of
from workers.shards.test_shard import ShardRun

MODEL = """
test_suite_config:
  files: []
  models:
    - {name: one, import_path: "a:b", inputs: [{shape: [1], below: 2}], compare: [logits], dtypes: [float16]}
"""
CHECK: ModelCheck = load_manifests([ManifestDocument("m.yaml", MODEL)]).models["models/one"].check
TEST, PLAIN = "models/one::logits[float16]", "test/test_a.py::TestASPYRE::test_x_spyre"


def order(test_id: str) -> TestOrder:
    return TestOrder(id=test_id, file=test_id.partition("::")[0], expected=Expected.MANDATORY_SUCCESS)


def run(runner: ScriptedRunner, folder: Path | None, *tests: str, base_asked: list[str]) -> dict[str, TestResult]:
    def base() -> RunnerTree:
        base_asked.append("base")
        return BASE

    either = ModelRunner(
        DiscreetRunner(runner, lambda text: text.replace("secret", "***")),
        checks_of([ModelOrder(file="models/one", check=CHECK.as_json())]),
        References(folder, "this base"),
        base,
    )
    results: dict[str, TestResult] = {}
    shard = ShardRun(
        either, HEAD, base, lambda one: results.update({one.id: one}), lambda: False, lambda _: None
    )  # fmt: skip
    assert shard.run([order(test) for test in tests])
    return results


def test_models_and_files_of_one_shard_get_their_results_and_the_cpu_is_asked_once_for_each_base(
    tmp_path: Path,
) -> None:
    runner, asked = ScriptedRunner(answers={"base": Answer(b"numbers")}), list[str]()
    for _ in range(2):
        results = run(runner, tmp_path, PLAIN, TEST, base_asked=asked)
        assert {test: one.attempts[0].observation for test, one in results.items()} == {
            PLAIN: Observation.PASSED,
            TEST: Observation.PASSED,
        }
    assert (runner.answered, asked) == ([("base", "models/one")], ["base"])


def test_a_model_that_differs_is_tried_again_and_compared_with_base(tmp_path: Path) -> None:
    runner = ScriptedRunner({("head", TEST): [F]}, answers={"base": Answer(b"numbers")})
    result = run(runner, tmp_path, TEST, base_asked=[])[TEST]
    assert [(tried.tree.value, tried.observation.value) for tried in result.attempts] == [
        ("head", "failed"),
        ("head", "failed"),
        ("base", "passed"),
    ]


def test_without_an_answer_of_the_cpu_the_tests_fail_and_say_why_without_secrets() -> None:
    runner = ScriptedRunner(answers={"base": Answer(b"", "no secret package")})
    first = run(runner, None, TEST, base_asked=[])[TEST].attempts[0]
    assert first.observation is Observation.FAILED
    assert "no *** package" in first.detail


def test_a_model_that_the_manifests_have_no_more_is_missing() -> None:
    result = run(ScriptedRunner(), None, "models/gone::logits[float16]", base_asked=[])
    (attempt, *_) = result["models/gone::logits[float16]"].attempts
    assert attempt.observation is Observation.MISSING
    assert "rerun the change" in attempt.detail


def test_a_check_that_this_worker_does_not_know_ends_the_shard() -> None:
    with pytest.raises(UnknownCheckError, match=r"does not know \(not a model check.*differ in version"):
        checks_of([ModelOrder(file="models/one", check={"name": "one"})])
