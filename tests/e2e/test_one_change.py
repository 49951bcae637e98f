"""One upstream change goes all the way, on both kinds of deployment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from relay.cli.run_lines import Part, lines_of
from relay.contract import LogKind
from relay.demo.repository import UpstreamChange, prepare_demo_repository
from relay.demo.scenario import REGRESSIONS, differences
from relay.now_views import WorkerState
from relay.views import RunState
from tests.conftest import MakeDatabase
from tests.e2e.conftest import Deployment
from tests.waiting import until

pytestmark = pytest.mark.e2e

MANIFESTS = Path(__file__).parents[2] / "test_manifests"


@pytest.fixture(scope="session")
def change(tmp_path_factory: pytest.TempPathFactory) -> UpstreamChange:
    return prepare_demo_repository(tmp_path_factory.mktemp("demo") / "upstream")


@pytest.fixture(params=["one machine", "many machines"])
def deployment(request: pytest.FixtureRequest, deploy: Callable[..., Deployment], change: UpstreamChange) -> Deployment:
    """SQLite, a broker folder and one worker; or PostgreSQL, a Redis-protocol broker and two workers."""
    if request.param == "one machine":
        return deploy(change, manifest_dir=MANIFESTS)
    make_database: MakeDatabase = request.getfixturevalue("make_postgres_database")
    return deploy(
        change,
        workers=2,
        manifest_dir=MANIFESTS,
        database_url=make_database("empty"),
        broker_url=request.getfixturevalue("valkey_url"),
        shard_size=4,
    )


def test_from_webhook_to_the_designed_verdict(deployment: Deployment) -> None:
    """The change's regressions are told from what failed before and from what is fine; a redelivery adds nothing."""
    webhook = deployment.webhook()
    assert deployment.deliver(webhook).json()["repeated"] is False
    until(lambda: bool(deployment.client.runs().runs), seconds=30)
    (run,) = deployment.client.runs().runs

    detail = deployment.finished(run.id)
    tests = deployment.tests(run.id)
    assert detail.run.state is RunState.FINISHED, deployment.story(run.id)
    assert differences(detail.run, tests) == [], deployment.story(run.id)
    assert detail.run.planned == detail.run.reported == len(tests) == len({test.id for test in tests})
    assert [step.stage for step in detail.funnel] == [1, 2, 3, 4]
    failing = next(test for test in tests if test.id in REGRESSIONS)
    assert "device" in failing.detail

    log = list(lines_of(deployment.client, Part(run.id)))
    assert {line.shard for line in log} == {shard.id for shard in detail.shards}
    for test in tests:
        said = [line.kind for line in log if test.id in line.text]
        assert (LogKind.FAILURE in said) is (test.id in REGRESSIONS), (test.id, said)
        assert said

    assert deployment.deliver(webhook).json()["repeated"] is True
    assert [known.id for known in deployment.client.runs().runs] == [run.id]


def test_workers_are_there_before_there_is_work(deployment: Deployment) -> None:
    """As many as were started, each with what it tests with, and all alike; over either broker."""
    started = len(deployment.service.worker_pids())
    until(lambda: len(deployment.client.workers().workers) == started, seconds=60)
    told = deployment.client.workers()
    assert {worker.state for worker in told.workers} == {WorkerState.IDLE}
    assert all(worker.about and worker.about.environments for worker in told.workers)
    assert told.differences == ()


def test_a_rerun_of_the_failed_tests_runs_just_these(deploy: Callable[..., Deployment], change: UpstreamChange) -> None:
    """`--failed` repeats the regressions, finds them again, and leaves the first run as it was."""
    deployment = deploy(change, manifest_dir=MANIFESTS)
    first = deployment.finished(deployment.start_run())
    token = deployment.service.settings.operator_token
    assert token is not None
    with type(deployment.client)(deployment.service.url, operator_token=token.get_secret_value()) as operator:
        again = operator.rerun(first.run.id, failed=True)

    second = deployment.finished(again.id)
    assert {test.id for test in deployment.tests(second.run.id)} == REGRESSIONS
    assert second.run.rerun_of == first.run.id
    assert second.run.verdicts == {"regression": len(REGRESSIONS)}
    assert deployment.client.run(first.run.id) == first
