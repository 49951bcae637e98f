"""The same sixteen probes as tests of an upstream file: what the runner adds opens no way out."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path

import pytest

from relay.contract import Observation
from tests.waiting import until
from tests.workers.runner.sandbox.inside import named, open_folder
from tests.workers.runner.sandbox.test_probes import PROBES
from workers.runner.runner import Runner
from workers.runner.sandbox import Sandbox
from workers.runner.types import Installation, RunnerTree, TestOutcome, WantedTest

FILE = "test/test_probes.py"


@pytest.fixture(scope="module")
def outcomes(sandbox: Sandbox, device_library: Path) -> dict[str, TestOutcome]:
    """By the probe's name."""
    found: list[TestOutcome] = []
    wanted = [WantedTest(f"{FILE}::TestProbes::test_{name}") for name in PROBES]
    with open_folder() as folder, socket.create_server(("127.0.0.1", 0)) as server, pytest.MonkeyPatch.context() as own:
        own.setenv("RELAY_WORKER_TOKEN", "of-the-worker")
        checkout, scratch = folder / "upstream", folder / "scratch"
        scratch.mkdir()
        (checkout / FILE).parent.mkdir(parents=True)
        shutil.copy(Path(__file__).with_name("probes.py"), checkout / FILE)
        facts = {"port": server.getsockname()[1], "host_file": __file__, "host_pid": os.getpid()}
        (checkout / FILE).with_name("facts.json").write_text(json.dumps(facts))
        (checkout / "test").chmod(0o777)
        with Runner(Installation("spyre", device_library), scratch, sandbox) as runner:
            runner.run(RunnerTree(checkout), FILE, wanted, found.append, lambda: False)
    return {outcome.id.rpartition("::test_")[2]: outcome for outcome in found}


@pytest.mark.parametrize("name", PROBES)
def test_the_sandbox_holds_under_the_runner(outcomes: dict[str, TestOutcome], name: str) -> None:
    outcome = outcomes[name]
    assert (outcome.observation, outcome.detail) == (Observation.PASSED, "")


def test_a_daemon_of_a_test_ends_with_the_runner(outcomes: dict[str, TestOutcome]) -> None:
    assert set(outcomes) == set(PROBES)
    until(lambda: not named("left_behind"))
