"""Spans: none and no cost without an endpoint; with one, a single trace from the webhook to the verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from relay.contract import LeaseRequest
from relay.demo.repository import UpstreamChange
from relay.demo.webhook import pull_request_opened
from relay.trail.redaction import HIDDEN, Redactor
from relay.trail.tracing import (
    TracingUnavailableError,
    is_on,
    present_ids,
    present_traceparent,
    record_span,
    span,
    start_tracing,
    stop_tracing,
    traceparent_of,
    usable_traceparent,
)
from tests.conftest import WEBHOOK_SECRET, WORKER_TOKEN
from tests.relay.trail.otlp_receiver import Receiver, SpanSeen, receiving
from tests.waiting import until
from tests.workers.benches import a_bench
from tests.workers.scripted_runner import ScriptedRunner, collected
from tests.workers.small_upstream import Upstream, new_upstream
from workers.relay_client import RelayClient
from workers.runner.types import Collection
from workers.session import Session
from workers.workspace import Workspace

FILE = "test/test_a.py"
SOURCE = "class TestA(TestCase):\n    def test_one(self, device):\n        return {}\n"
MANIFEST = f"""\
test_suite_config:
  files:
    - path: ${{TORCH_ROOT}}/{FILE}
      unlisted_test_mode: mandatory_success
"""
SECRET = "a-secret-of-this-process"


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """A collector, and the variables that name it."""
    with receiving() as found:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", found.url)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "50")
        yield found
        stop_tracing()


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    return new_upstream(tmp_path / "upstream")


def test_without_an_endpoint_nothing_is_sent_or_imported() -> None:
    """Neither by a service nor by a command; FastAPI's own dependency is the API alone."""
    asked = "import relay.app, workers.app, sys; print([name for name in sys.modules if 'opentelemetry.sdk' in name])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert not start_tracing("a-service", str)
    with span("something", size=3):
        assert (is_on(), present_traceparent(), present_ids(), traceparent_of("a", "b")) == (False, "", {}, "")


@pytest.mark.parametrize("off", ["OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"])
def test_an_endpoint_can_be_left_unused(receiver: Receiver, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    monkeypatch.setenv(*off.split("="))
    assert not start_tracing("a-service", str)


def test_a_protocol_that_is_not_spoken_is_named(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with pytest.raises(TracingUnavailableError, match="OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and only http/protobuf"):
        start_tracing("a-service", str)


def test_a_missing_extra_is_named(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "relay.trail.tracer", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(TracingUnavailableError, match=r"pip install 'oot-relay\[tracing\]'"):
        start_tracing("a-service", str)


def fail() -> None:
    assert present_ids()["trace_id"] in present_traceparent()
    raise ValueError(f"of {SECRET}")


def test_a_span_has_no_secret_and_a_line_at_most(receiver: Receiver) -> None:
    """Of a block that raises it has the exception's type: a message may be anybody's words."""
    assert start_tracing("a-service", Redactor([SECRET]))
    with (
        pytest.raises(ValueError, match="of"),
        span("work", told=f"{SECRET}\x1b[31m{'x' * 500}", cut=f"{'y' * 190}{SECRET}"),
    ):
        fail()
    stop_tracing()
    (seen,) = receiver.spans
    assert (seen.name, seen.service, seen.status) == ("work", "a-service", "ValueError")
    told = seen.attributes["relay.told"]
    assert told.startswith(f"{HIDDEN} [31mxxx")
    assert len(told) <= 200
    assert seen.attributes["relay.cut"] == f"{'y' * 190}{HIDDEN}"
    assert not is_on()


def test_a_span_of_an_identity_is_found_by_it(receiver: Receiver) -> None:
    """By processes that never spoke with each other."""
    start_tracing("a-service", str)
    begun = datetime(2026, 3, 1, tzinfo=UTC)
    first = traceparent_of("delivery:x", "delivery:x")
    record_span("delivery", "delivery:x", "", (begun, begun + timedelta(seconds=3)))
    with span("inside", first):
        pass
    stop_tracing()
    delivery, inside = receiver.spans
    assert f"00-{delivery.trace}-{delivery.id}-01" == first
    assert (delivery.parent, delivery.seconds) == ("", 3.0)
    assert (inside.trace, inside.parent) == (delivery.trace, delivery.id)


def test_a_share_of_traces_is_the_same_for_all(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    start_tracing("a-service", str)
    given = [traceparent_of(f"delivery:{number}", "x") for number in range(64)]
    assert {it[-2:] for it in given} == {"00", "01"}


@pytest.mark.parametrize(
    "text", ["", "00-x", f"00-{'0' * 32}-{'1' * 16}-01", f"00-{'1' * 32}-{'0' * 16}-01", f"01-{'1' * 32}-{'1' * 16}-01"]
)
def test_what_is_no_traceparent_is_none(text: str) -> None:
    assert usable_traceparent(text) == ""
    assert usable_traceparent(f"00-{'1' * 32}-{'2' * 16}-01") == f"00-{'1' * 32}-{'2' * 16}-01"


def test_one_trace_from_the_webhook_to_the_verdict(receiver: Receiver, upstream: Upstream, tmp_path: Path) -> None:
    """Web part, background and worker are three processes; the worker is played by this one."""
    base = upstream.commit({FILE: SOURCE.format(1)})
    change = UpstreamChange(upstream.path, base, upstream.commit({FILE: SOURCE.format(2)}), "A title", "A body")
    with served(tmp_path, upstream) as url:
        sent = pull_request_opened(change, "pytorch/pytorch", WEBHOOK_SECRET)
        assert httpx.post(f"{url}/github/webhook", content=sent.body, headers=sent.headers).is_success
        work(url, tmp_path, receiver)
        until(lambda: any(seen.name == "run" for seen in receiver.spans), "the run has its verdict", 60)
    stop_tracing()

    (delivery,) = [seen for seen in receiver.spans if seen.name == "delivery"]
    ours = {seen.id: seen for seen in receiver.spans if seen.trace == delivery.trace}
    names = {(seen.service.removeprefix("oot-relay-"), seen.name) for seen in ours.values()}
    assert names >= {
        ("web", "POST /github/webhook"),
        ("background", "delivery"),
        ("web", "run"),
        ("worker", "shard select"),
        *(("worker", f"stage {stage}") for stage in ("change", "ownership", "triage", "manifests")),
        ("web", "POST /api/v1/worker/shards/{shard_id}/selection"),
        ("worker", "shard test"),
        ("worker", "test file"),
        ("web", "POST /api/v1/worker/shards/{shard_id}/results"),
    }
    assert [seen.name for seen in ours.values() if seen.parent not in ours] == ["delivery"]
    assert chain(ours, "test file") == ["test file", "shard test", "run", "delivery"]
    assert chain(ours, "stage triage") == ["stage triage", "shard select", "run", "delivery"]
    assert not [seen for seen in receiver.spans if "A title" in str(seen) or WORKER_TOKEN in str(seen)]
    assert any(seen.name == "sweep" for seen in receiver.spans)


def chain(spans: dict[str, SpanSeen], name: str) -> list[str]:
    """The names from a span up to the first of its trace."""
    seen: SpanSeen | None = next(it for it in spans.values() if it.name == name)
    found = []
    while seen is not None:
        found.append(seen.name)
        seen = spans.get(seen.parent)
    return found


def work(url: str, folder: Path, receiver: Receiver) -> None:
    """A worker with a scripted device: it selects, then it tests."""
    assert start_tracing("oot-relay-worker", Redactor())
    collection = Collection(collected(FILE, "TestA", "test_one"), "")
    runner = ScriptedRunner(collections={("head", FILE): collection, ("base", FILE): collection})
    with RelayClient(url, WORKER_TOKEN) as client:
        session = Session(
            client=client,
            workspace=Workspace(folder / "work"),
            identity=LeaseRequest(worker="w1", device="spyre"),
            bench=a_bench(runner),
            make_llm=lambda _: pytest.fail("no model is configured"),
            shutting_down=lambda: False,
        )
        taken = 0

        def both() -> bool:
            nonlocal taken
            taken += session.run()
            return taken >= 2

        until(both, "both shards are done", 60)


@contextmanager
def served(folder: Path, upstream: Upstream) -> Iterator[str]:
    """The address of `relay serve` in processes of its own. Its log has the trace's id."""
    (folder / "manifests").mkdir()
    (folder / "manifests" / "a.yaml").write_text(MANIFEST)
    passed = {name: text for name, text in os.environ.items() if name in ("PATH", "PYTHONPATH") or "OTEL" in name}
    environment = {
        **passed,
        "RELAY_STATE_DIR": str(folder / "state"),
        "RELAY_MANIFEST_DIR": str(folder / "manifests"),
        "RELAY_UPSTREAM_CLONE_URL": str(upstream.path),
        "RELAY_WEBHOOK_SECRET": WEBHOOK_SECRET,
        "RELAY_WORKER_TOKEN": WORKER_TOKEN,
        "RELAY_SWEEP_SECONDS": "0.2",
    }
    log = folder / "serve.log"
    command = [sys.executable, "-m", "relay", "serve", "--port", "0"]
    with log.open("wb") as output, subprocess.Popen(command, env=environment, stdout=output, stderr=output) as process:
        try:
            until(lambda: b"http://" in log.read_bytes() or process.poll() is not None, "it serves", 60)
            assert process.poll() is None, log.read_text()
            yield next(word.rstrip(";") for word in log.read_text().split() if word.startswith("http://"))
        finally:
            process.terminate()
    (ended,) = [line for line in log.read_text().splitlines() if '"run.finished"' in line]
    assert '"trace_id"' in ended
