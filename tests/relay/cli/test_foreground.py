"""What a service in the foreground needs of its process."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import structlog

from relay.cli.foreground import log_to_stderr, sending_spans, tell_of_open_files
from relay.settings import RelaySettings, with_secrets


def test_a_log_line_goes_to_the_stderr_of_its_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that was there at the start may be closed by then; logging must never fail the work that is logged."""
    first, second = io.StringIO(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", first)
    log_to_stderr()
    first.close()
    monkeypatch.setattr(sys, "stderr", second)
    structlog.get_logger("relay.somewhere").warning("still_here", run=7)
    assert "still_here" in second.getvalue()


_seen: list[object] = []


@pytest.mark.parametrize("turn", ["first", "second"])
def test_logging_that_a_test_sets_up_ends_with_it(turn: str) -> None:
    """The second turn finds logging as the first one found it."""
    _seen.append(structlog.get_config()["processors"])
    log_to_stderr()
    assert structlog.get_config()["processors"] != _seen[-1], turn
    assert _seen[0] == _seen[-1]


def test_secrets_that_others_may_read_are_told_at_the_start(capsys: pytest.CaptureFixture[str]) -> None:
    with TemporaryDirectory(dir="/tmp") as folder:  # one that others may pass
        Path(folder).chmod(0o755)
        settings = with_secrets(RelaySettings(state_dir=Path(folder)))
        log_to_stderr(settings)
        tell_of_open_files(settings)
        assert capsys.readouterr().err == ""
        (Path(folder) / "worker-token").chmod(0o644)
        tell_of_open_files(settings)
        said = capsys.readouterr().err
    assert "secrets_are_readable" in said
    assert f"chmod 600 {folder}/worker-token" in said


def test_spans_that_cannot_be_sent_are_told_and_cost_nothing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    settings = RelaySettings()
    log_to_stderr(settings)
    with sending_spans(settings, "web"):
        pass
    assert "only http/protobuf is spoken here" in capsys.readouterr().err
