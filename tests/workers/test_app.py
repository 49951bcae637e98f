"""The Celery application: what it takes from a broker and what it does not keep there."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from relay.contract import WAKE_TASK
from workers.app import create_celery, work_until_idle, workspace_of
from workers.settings import WorkerSettings
from workers.shutdown import ShutdownFlag


def settings(tmp_path: Path, broker_url: str) -> WorkerSettings:
    values = {"url": "http://127.0.0.1:9", "broker_url": broker_url, "worker_token": "t", "work_dir": tmp_path / "work"}
    return WorkerSettings.model_validate(values)


def test_messages_are_json_acknowledged_early_and_leave_no_result(tmp_path: Path) -> None:
    conf = create_celery(settings(tmp_path, "memory://")).conf
    assert conf.accept_content == ["json"]
    assert conf.task_serializer == "json"
    assert conf.task_ignore_result
    assert not conf.task_acks_late
    assert conf.result_backend is None
    assert conf.task_default_queue == "device.spyre"
    assert not conf.worker_enable_remote_control


@pytest.mark.parametrize(
    ("url", "disabled"), [("redis://queue:6379/0", True), ("rediss://queue:6379/0", True), ("memory://", False)]
)
def test_prefetch_is_off_where_the_broker_can(tmp_path: Path, url: str, disabled: bool) -> None:
    conf = create_celery(settings(tmp_path, url)).conf
    assert (conf.worker_disable_prefetch, conf.worker_prefetch_multiplier) == (disabled, 1)


def test_the_folders_of_a_file_system_broker_are_made(tmp_path: Path) -> None:
    create_celery(settings(tmp_path, f"filesystem://{tmp_path}/broker"))
    assert {path.name for path in (tmp_path / "broker").iterdir()} == {"messages", "control"}


def test_the_wake_task_is_the_only_one_of_ours(tmp_path: Path) -> None:
    app = create_celery(settings(tmp_path, "memory://"))
    assert [name for name in app.tasks if not name.startswith("celery.")] == [WAKE_TASK]


def test_a_worker_that_shuts_down_asks_for_no_work(tmp_path: Path) -> None:
    """The relay of these settings does not exist; it is not asked."""
    flag = ShutdownFlag()
    flag.set()
    assert work_until_idle(settings(tmp_path, "memory://"), flag) == 0


def test_git_is_told_of_its_proxy_and_its_time(tmp_path: Path) -> None:
    told = settings(tmp_path, "memory://").model_copy(
        update={"git_proxy": SecretStr("http://proxy:1"), "git_timeout_s": 7}
    )
    mirrors = workspace_of(told).mirrors
    assert (mirrors.proxy, mirrors.git_timeout_s) == ("http://proxy:1", 7)
    assert workspace_of(settings(tmp_path, "memory://")).mirrors.proxy == ""
