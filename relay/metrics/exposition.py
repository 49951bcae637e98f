"""Figures as Prometheus reads them (https://prometheus.io/docs/instrumenting/exposition_formats/).

Figures of the record are gauges and alike in every replica: take their maximum, not their sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Histogram, Info
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from relay.metrics.pulse import Pulse, Recent

_QUANTILES = (0.5, 0.95)


class ProcessFigures:
    """What one process counts of itself."""

    def __init__(self, registry: CollectorRegistry) -> None:
        Info("relay_build", "The version that runs", registry=registry).info({"version": version("oot-relay")})
        self._seconds = Histogram(
            "relay_http_request_seconds",
            "How long requests took to be answered, by route; event streams are left out",
            ("method", "route", "status"),
            registry=registry,
            buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request was answered."""
        self._seconds.labels(method, route, f"{status}").observe(seconds)


class RecordFigures(Collector):
    """What the record tells, read at each scrape. Says nothing of its own before the first scrape."""

    def __init__(self, take: Callable[[], tuple[Pulse, Recent]]) -> None:
        self._take = take

    def describe(self) -> Iterable[Metric]:
        """Nothing: the registry would otherwise read the record at the start."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Every figure."""
        pulse, recent = self._take()
        yield from _ages(pulse)
        yield _by("relay_outbox_letters", "Letters not sent yet, or dead", ("kind", "state"), pulse.outbox.items())
        yield _by("relay_runs_unfinished", "Runs under way", ("device", "state"), pulse.runs.items())
        yield _by(
            "relay_shards", "Shards that wait for a worker or have one", ("device", "state"), pulse.shards.items()
        )
        yield _by("relay_workers", "Workers of the last day", ("device", "state"), pulse.workers.items())
        yield _by("relay_recent_runs", "How the newest runs ended", ("device", "conclusion"), recent.ended.items())
        yield from _backlogs(pulse)
        yield _quantiles(
            "relay_recent_verdict_seconds", "From the webhook to the verdict, of the newest runs", recent.verdict_s
        )
        yield _quantiles(
            "relay_recent_shard_imbalance",
            "The longest shard of tests over the mean one, of the newest runs",
            recent.imbalances,
        )
        yield from _stages(recent)


def _ages(pulse: Pulse) -> Iterator[Metric]:
    for name, text, age in (
        ("relay_sweep_age_seconds", "Since any process swept", pulse.sweep_age_s),
        ("relay_inbox_age_seconds", "Since the oldest delivery came that nobody has decided about", pulse.inbox_age_s),
        ("relay_outbox_age_seconds", "Since the oldest letter became due that nobody has sent", pulse.outbox_age_s),
    ):
        yield GaugeMetricFamily(name, text, value=None if age is None else age)
    yield GaugeMetricFamily("relay_inbox_waiting", "Deliveries nobody has decided about", value=pulse.inbox_waiting)
    queue = pulse.queue_age_s.items()
    yield _by("relay_queue_age_seconds", "Age of the oldest run that waits for a worker", ("device", "class"), queue)
    beats = [((device,), age) for device, age in pulse.heartbeat_age_s.items()]
    yield _by("relay_heartbeat_age_seconds", "Since the last heartbeat of any worker", ("device",), beats)


def _backlogs(pulse: Pulse) -> Iterator[Metric]:
    backlogs = pulse.backlogs.items()
    waits = [((device,), backlog.for_each_worker_s) for device, backlog in backlogs]
    yield _by("relay_queue_backlog_seconds", "Work that people wait for, for each worker", ("device",), waits)
    deep = [((device,), float(backlog.deep)) for device, backlog in backlogs]
    yield _by("relay_queue_deep", "Whether there is back-pressure", ("device",), deep)


def _quantiles(name: str, text: str, values: Mapping[str, tuple[float, ...]]) -> Metric:
    """Of sorted values by device."""
    gauge = GaugeMetricFamily(name, text, labels=("device", "quantile"))
    for device, sorted_ones in sorted(values.items()):
        for share in _QUANTILES:
            gauge.add_metric(
                (device, f"{share}"), sorted_ones[min(len(sorted_ones) - 1, int(share * len(sorted_ones)))]
            )
    return gauge


def _stages(recent: Recent) -> Iterator[Metric]:
    entered = GaugeMetricFamily("relay_stage_entered", "Entered a stage of recent selections", labels=("stage", "name"))
    left = GaugeMetricFamily("relay_stage_left", "Left a stage of recent selections", labels=("stage", "name"))
    for flow in recent.stages:
        entered.add_metric((f"{flow.stage}", flow.name), flow.entered)
        left.add_metric((f"{flow.stage}", flow.name), flow.left)
    yield entered
    yield left


def _by(name: str, text: str, labels: tuple[str, ...], figures: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    gauge = GaugeMetricFamily(name, text, labels=labels)
    for key, figure in sorted(figures):
        gauge.add_metric([str(part) for part in key], figure)
    return gauge
