"""Parts of the service die or lie in the middle of a run, and the run still ends with one outcome for every test."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from relay.contract import broker_connection
from relay.views import Conclusion, RunDetail, RunState, Verdict
from tests.e2e.conftest import Deployment
from tests.e2e.model import FakeModel
from tests.e2e.upstream import MIXED_TESTS, SLOW_TESTS, make_upstream, write_manifests
from tests.waiting import until

pytestmark = pytest.mark.e2e

COUNT = 16


@pytest.fixture
def slow(deploy: Callable[..., Deployment], tmp_path: Path) -> Deployment:
    """A change whose one shard takes some seconds, so that there is a middle to break."""
    path = "test/test_slow.py"
    change = make_upstream(tmp_path / "upstream", {path: SLOW_TESTS.format(count=COUNT, seconds=0.5)})
    return deploy(change, manifest_dir=write_manifests(tmp_path / "manifests", [path]))


def in_the_middle(deployment: Deployment) -> int:
    """A run of which some tests are reported and some are not."""
    run_id = deployment.start_run()
    until(lambda: deployment.client.run(run_id).run.reported > 0, lambda: deployment.story(run_id), 120)
    assert deployment.client.run(run_id).run.reported < COUNT
    return run_id


def assert_whole(deployment: Deployment, run_id: int) -> RunDetail:
    """The run ended by itself, and every planned test has exactly one outcome, which is the right one."""
    detail = deployment.finished(run_id)
    tests = deployment.tests(run_id)
    assert detail.run.state is RunState.FINISHED, deployment.story(run_id)
    assert detail.run.planned == detail.run.reported == len({test.id for test in tests}) == COUNT
    assert {test.verdict for test in tests} == {Verdict.OK}
    assert detail.run.conclusion is Conclusion.SUCCESS
    return detail


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_the_pool_process_is_killed(slow: Deployment) -> None:
    """SIGKILL of the process that runs the shard: its lease runs out, another process takes the rest."""
    run_id = in_the_middle(slow)
    (worker,) = slow.service.worker_pids()
    for pid in children(worker):
        os.kill(pid, signal.SIGKILL)
    detail = assert_whole(slow, run_id)
    assert max(shard.attempt for shard in detail.shards) > 1


def test_the_whole_worker_is_killed(slow: Deployment) -> None:
    """SIGKILL of the worker: the supervisor starts another one, which takes the rest."""
    run_id = in_the_middle(slow)
    (worker,) = slow.service.worker_pids()
    os.kill(worker, signal.SIGKILL)
    assert_whole(slow, run_id)
    assert worker not in slow.service.worker_pids()


@pytest.mark.embedded("about the folder of wake-ups")
def test_the_broker_folder_is_deleted(slow: Deployment) -> None:
    """Messages are wake-ups only: with all of them gone the sweep wakes the workers again."""
    run_id = in_the_middle(slow)
    folder = broker_connection(slow.service.settings.broker_url).folder
    assert folder is not None
    shutil.rmtree(folder)
    assert_whole(slow, run_id)
    # And the service is as good as before: the next change is tested, too.
    assert_whole(slow, slow.start_run())


@pytest.fixture
def model() -> FakeModel:
    return FakeModel()


def test_the_model_fails_in_every_way(deploy: Callable[..., Deployment], tmp_path: Path, model: FakeModel) -> None:
    """Garbage, silence and unknown tests cost time only: the run ends, must-run tests stay, and the notes say it."""
    path = "test/test_mixed.py"
    change = make_upstream(tmp_path / "upstream", {path: MIXED_TESTS})
    manifests = write_manifests(tmp_path / "manifests", [path])
    with model.serving() as url:
        deployment = deploy(
            change, manifest_dir=manifests, llm_base_url=url, llm_model="fake", llm_api_key="k" * 20, llm_timeout_s=1.0
        )
        told = {mode: _run_with(deployment, model, mode) for mode in ("honest", "garbage", "hangs", "lies")}

    must_run = {mode: must for mode, (must, _) in told.items()}
    assert must_run["honest"] == {"test/test_mixed.py::TestMixed::test_unravel_index_of_a_row"}
    assert all(must == must_run["honest"] for must in must_run.values())
    assert model.asked >= len(told)
    said = {"garbage": "no usable JSON", "hangs": "timed out", "lies": "ids that were not offered"}
    assert {mode: words for mode, words in said.items() if words not in told[mode][1]} == {}, told
    assert not any(words in told["honest"][1] for words in said.values())


def _run_with(deployment: Deployment, model: FakeModel, mode: str) -> tuple[set[str], str]:
    """The must-run tests of a run under that kind of model, and everything the run says about the model."""
    model.mode = mode
    run_id = deployment.start_run()
    detail = deployment.finished(run_id)
    assert detail.run.state is RunState.FINISHED, deployment.story(run_id)
    assert detail.run.conclusion is Conclusion.SUCCESS
    decisions = deployment.client.decisions(run_id, limit=200).decisions
    said = [reason.rule for decision in decisions for reason in decision.reasons if reason.stage == 3]
    must = {decision.test for decision in decisions if decision.must_run and decision.kept}
    assert must <= {test.base for test in deployment.tests(run_id)}
    return must, " | ".join([*detail.notes, *said])
