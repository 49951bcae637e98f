"""What a device needs of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from workers.device_runner import device_library
from workers.settings import WorkerSettings
from workers.spyre.build import DeviceBuildError
from workers.upstream.overlay import installed_wheel


def _library(device: str, cache: Path) -> Path | None:
    settings = WorkerSettings(
        url="http://127.0.0.1:9",
        broker_url=SecretStr("memory://"),
        worker_token=SecretStr("t"),
        device=device,
        device_cache=cache,
    )
    return device_library(settings, installed_wheel())


def test_the_cpu_needs_no_library_and_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reference device comes with every torch; another one needs what compiles it."""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _library("cpu", tmp_path / "cache") is None
    assert not (tmp_path / "cache").exists()
    with pytest.raises(DeviceBuildError, match="no g\\+\\+ on PATH"):
        _library("spyre", tmp_path / "cache")
