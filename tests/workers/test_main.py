"""`python -m workers` as a real process: refusals at start, a real shard on the real device, and a soft end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from celery import Celery

from relay.contract import (
    WAKE_TASK,
    Change,
    Expected,
    Observation,
    ShardOutcome,
    TestOrder,
    broker_connection,
    queue_name,
)
from tests.waiting import until
from tests.workers.leases import a_test_lease
from tests.workers.relay_double import TOKEN, RelayDouble
from tests.workers.small_upstream import Upstream
from workers.upstream.overlay import installed_wheel

FILE = "test/test_device.py"
SOURCE = """# Owner(s): ["module: tests"]
import os, time
import torch
from torch.testing._internal.common_device_type import instantiate_device_type_tests
from torch.testing._internal.common_utils import TestCase


class TestDevice(TestCase):
    def test_sum(self, device):
        self.assertEqual(torch.ones(3, device=device).sum().cpu().item(), 3)

    def test_changed(self, device):
        self.assertEqual(torch.functional.answer_of_the_change(), 42)

    def test_no_secret(self, device):
        self.assertEqual([name for name in os.environ if "TOKEN" in name or "BROKER" in name], [])
%s

instantiate_device_type_tests(TestDevice, globals(), only_for="privateuse1")
"""
SLOW = "".join(f"\n    def test_slow_{number}(self, device):\n        time.sleep(0.5)\n" for number in range(20))
CACHE = Path("~/.cache/oot-relay-tests/device").expanduser()
LIMIT_S = 120.0


def run_main(**environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "workers"],
        env={"PATH": os.environ["PATH"]} | environment,
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_missing_settings_are_sentences_and_exit_code_2() -> None:
    done = run_main()
    assert done.returncode == 2
    assert "RELAY_URL is not set" in done.stderr
    assert "RELAY_BROKER_URL is not set" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_required_sandbox_that_is_missing_is_a_sentence(tmp_path: Path) -> None:
    done = run_main(
        RELAY_URL="http://127.0.0.1:9", RELAY_BROKER_URL="memory://", RELAY_WORKER_TOKEN="secret-of-the-test",
        RELAY_WORK_DIR=str(tmp_path), RELAY_SANDBOX="required", PATH=str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 2
    assert "RELAY_SANDBOX=required, but bubblewrap is not installed" in done.stderr
    assert "apt-get install bubblewrap" in done.stderr


def test_the_kernel_keeps_others_of_the_same_user_out_of_a_worker() -> None:
    """What it was started with stays in its memory, the token too; a debugger and `/proc/PID/environ` would show it."""
    program = "import ctypes, workers.__main__ as m; m.forget_secrets(); print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout == b"0\n"


def test_an_unusable_work_directory_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run_main(
        RELAY_URL="http://127.0.0.1:9", RELAY_BROKER_URL="memory://", RELAY_WORKER_TOKEN="secret-of-the-test",
        RELAY_WORK_DIR=str(tmp_path / "file"),
    )  # fmt: skip
    assert done.returncode == 2
    assert "Set RELAY_WORK_DIR to a writable folder" in done.stderr
    assert "secret-of-the-test" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("RELAY_DEVICE_PROFILE", "no-such-profile", "RELAY_DEVICE_PROFILE: "),
        ("RELAY_BUILD_COMMAND", "make 'torch", "RELAY_BUILD_COMMAND: cannot be cut into words"),
    ],
)
def test_a_setting_that_shards_would_fail_on_is_a_sentence(
    tmp_path: Path, variable: str, value: str, sentence: str
) -> None:
    done = run_main(
        RELAY_URL="http://127.0.0.1:9", RELAY_BROKER_URL="memory://", RELAY_WORKER_TOKEN="t",
        RELAY_WORK_DIR=str(tmp_path), **{variable: value},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.startswith(f"worker: {sentence}")


def test_a_damaged_register_of_environments_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "environments.json").write_text("{")
    done = run_main(
        RELAY_URL="http://127.0.0.1:9", RELAY_BROKER_URL="memory://", RELAY_WORKER_TOKEN="t",
        RELAY_WORK_DIR=str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 2
    assert "environments.json cannot be read" in done.stderr


class Worker:
    """A real worker process on a file-system broker, and the wake-ups it gets."""

    def __init__(self, process: subprocess.Popen[str], broker: str, log: Path) -> None:
        self.process, self.log = process, log
        connection = broker_connection(broker)
        self._celery = Celery("waker", broker=connection.url, set_as_current=False)
        self._celery.conf.broker_transport_options = connection.transport_options

    def wake(self) -> None:
        self._celery.send_task(WAKE_TASK, queue=queue_name("spyre"), ignore_result=True)
        self._celery.close()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        def met() -> bool:
            assert self.process.poll() is None, self.log.read_text()
            return condition()

        until(met, seconds=LIMIT_S)


@pytest.fixture
def worker(relay: RelayDouble, tmp_path: Path) -> Iterator[Worker]:
    broker, log = f"filesystem://{tmp_path}/broker", tmp_path / "worker.log"
    environment = {
        "PATH": os.environ["PATH"],
        "RELAY_URL": relay.url,
        "RELAY_BROKER_URL": broker,
        "RELAY_WORKER_TOKEN": TOKEN,
        "RELAY_WORK_DIR": str(tmp_path / "work"),
        "RELAY_DEVICE_CACHE": str(CACHE),
    }
    with ExitStack() as ending, log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "workers"], env=environment, stdout=output, stderr=output, text=True
        )
        ending.callback(process.wait, 30)
        ending.callback(process.kill)
        worker = Worker(process, broker, log)
        worker.wait_for(lambda: "worker ready" in log.read_text())
        yield worker


@pytest.fixture
def change(upstream: Upstream) -> Change:
    """A change of torch's real Python source that a test notices."""
    shipped = (installed_wheel() / "torch/functional.py").read_text()
    base = upstream.commit({FILE: SOURCE % SLOW, "torch/functional.py": shipped})
    head = upstream.commit({"torch/functional.py": shipped + "\n\ndef answer_of_the_change():\n    return 42\n"})
    return upstream.change(base, head)


def orders(*names: str) -> tuple[TestOrder, ...]:
    return tuple(
        TestOrder(id=f"{FILE}::TestDeviceSPYRE::{name}_spyre", file=FILE, expected=Expected.MANDATORY_SUCCESS)
        for name in names
    )


@pytest.mark.e2e
def test_a_real_shard_runs_the_change_on_the_device(worker: Worker, relay: RelayDouble, change: Change) -> None:
    relay.leases.append(a_test_lease(change, orders("test_sum", "test_changed", "test_no_secret", "test_absent")))
    worker.wake()
    worker.wait_for(lambda: bool(relay.finished))
    seen = {result.id.split("::")[-1]: [a.observation for a in result.attempts] for result in relay.results}
    assert seen == {
        "test_sum_spyre": [Observation.PASSED],
        "test_changed_spyre": [Observation.PASSED],
        "test_no_secret_spyre": [Observation.PASSED],
        "test_absent_spyre": [Observation.MISSING] * 3,
    }
    assert [(end.outcome, end.error) for end in relay.finished] == [(ShardOutcome.DONE, "")]
    assert TOKEN not in worker.log.read_text()


@pytest.mark.e2e
def test_a_worker_without_work_says_that_it_is_there_and_goodbye(worker: Worker, relay: RelayDouble) -> None:
    """With what it tests with; nobody has woken it. The goodbye is of the same process."""
    worker.wait_for(lambda: bool(relay.present))
    (there,) = relay.present
    assert (there.device, there.concurrency, there.leaving) == ("spyre", 1, False)
    assert [environment.name for environment in there.environments] == ["default"]
    assert there.environments[0].torch_version.startswith("2.13.")
    assert there.sandbox.split(":")[0] in {"bubblewrap", "none"}
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(LIMIT_S) == 0
    assert relay.present[1:] == [there.model_copy(update={"leaving": True})]


@pytest.mark.e2e
def test_sigterm_ends_softly_in_the_middle_of_a_shard(worker: Worker, relay: RelayDouble, change: Change) -> None:
    """Results so far are posted, the shard becomes due again, and the process ends by itself."""
    relay.leases.append(a_test_lease(change, orders(*(f"test_slow_{number}" for number in range(20)))))
    worker.wake()
    worker.wait_for(lambda: bool(relay.results))
    worker.process.send_signal(signal.SIGTERM)
    assert worker.process.wait(LIMIT_S) == 0
    assert 0 < len(relay.results) < 20
    assert [end.outcome for end in relay.finished] == [ShardOutcome.STOPPED]
    assert "stopped before the shard was done" in relay.finished[0].error
