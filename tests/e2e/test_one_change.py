"""One upstream change goes all the way, on both kinds of deployment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relay.cli.run_lines import Part, lines_of
from relay.contract import LogKind
from relay.demo.repository import UpstreamChange, prepare_demo_repository
from relay.demo.scenario import REGRESSIONS, differences
from relay.demo.webhook import SignedWebhook
from relay.now_views import WorkerState
from relay.views import RunDetail, RunState
from tests.conftest import MakeDatabase
from tests.e2e.conftest import Deployment, deploying
from tests.waiting import until

pytestmark = pytest.mark.e2e

MANIFESTS = Path(__file__).parents[2] / "test_manifests"


@pytest.fixture(scope="session")
def change(tmp_path_factory: pytest.TempPathFactory) -> UpstreamChange:
    return prepare_demo_repository(tmp_path_factory.mktemp("demo") / "upstream")


@dataclass
class Done:
    """A service that has tested the change once, which the tests share: nothing that they do is seen by the others."""

    deployment: Deployment
    webhook: SignedWebhook
    detail: RunDetail


@pytest.fixture(scope="module", params=["one machine", "many machines"])
def deployment(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    device_cache: Path,
    change: UpstreamChange,
) -> Iterator[Deployment]:
    """SQLite, a broker folder and one worker; or PostgreSQL, a Redis-protocol broker and two workers."""
    many: dict[str, Any] = {}
    if request.param == "many machines":
        make_database: MakeDatabase = request.getfixturevalue("make_postgres_database")
        broker_url = request.getfixturevalue("valkey_url")
        many = {"workers": 2, "database_url": make_database("empty"), "broker_url": broker_url, "shard_size": 4}
    with deploying(tmp_path_factory.mktemp("service"), device_cache) as deploy:
        yield deploy(change, manifest_dir=MANIFESTS, **many)


@pytest.fixture(scope="module")
def tested(deployment: Deployment) -> Done:
    webhook = deployment.webhook()
    assert deployment.deliver(webhook).json()["repeated"] is False
    until(lambda: bool(deployment.client.runs().runs), seconds=30)
    (run,) = deployment.client.runs().runs
    return Done(deployment, webhook, deployment.finished(run.id))


def test_from_webhook_to_the_designed_verdict(tested: Done) -> None:
    """The change's regressions are told from what failed before and from what is fine."""
    deployment, detail = tested.deployment, tested.detail
    run = detail.run
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


def test_a_redelivery_adds_nothing(tested: Done) -> None:
    before = tested.deployment.client.runs()
    assert tested.deployment.deliver(tested.webhook).json()["repeated"] is True
    assert tested.deployment.client.runs() == before


def test_workers_are_there_when_there_is_no_work(deployment: Deployment) -> None:
    """As many as were started, each with what it tests with, and all alike; over either broker."""
    idle = [WorkerState.IDLE] * len(deployment.service.worker_pids())
    until(lambda: [worker.state for worker in deployment.client.workers().workers] == idle, seconds=60)
    told = deployment.client.workers()
    assert all(worker.about and worker.about.environments for worker in told.workers)
    assert told.differences == ()


@pytest.mark.parametrize("deployment", ["one machine"], indirect=True)
def test_a_rerun_of_the_failed_tests_runs_just_these(tested: Done) -> None:
    """`--failed` repeats the regressions, finds them again, and leaves the first run as it was."""
    deployment, first = tested.deployment, tested.detail
    token = deployment.service.settings.operator_token
    assert token is not None
    with type(deployment.client)(deployment.service.url, operator_token=token.get_secret_value()) as operator:
        again = operator.rerun(first.run.id, failed=True)

    second = deployment.finished(again.id)
    assert {test.id for test in deployment.tests(second.run.id)} == REGRESSIONS
    assert second.run.rerun_of == first.run.id
    assert second.run.verdicts == {"regression": len(REGRESSIONS)}
    assert deployment.client.run(first.run.id) == first
