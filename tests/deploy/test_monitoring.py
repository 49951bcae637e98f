"""Alert rules and dashboard ask for what the relay really tells, and somebody knows what to do."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from relay.metrics.exposition import ProcessFigures, RecordFigures
from relay.metrics.pulse import Pulse, Recent, StageFlow
from relay.now_views import WorkerState
from relay.queue_views import Backlog, WorkClass
from relay.runs.states import FINAL_RUN_STATES
from relay.store.crcr_models import OutboxKind, OutboxState
from relay.store.models import ShardState
from relay.views import Conclusion, RunState
from tests.deploy.cluster import WRITTEN
from tests.deploy.deployed import DEPLOY
from tests.workers.runner.sandbox.inside import missing

RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text())["groups"]
    for rule in group["rules"]
]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
#: Prometheus makes it for whatever it asks.
OTHERS = {"up": {"job": {"oot-relay"}, "instance": set[str]()}}
_SELECTOR = re.compile(r"\b(up|relay_\w+)\b(?:\{([^}]*)\})?")
_LABEL = re.compile(r'(\w+)\s*(=~?|!=)\s*"([^"]*)"')


def expressions() -> Iterator[tuple[str, str]]:
    """Every PromQL expression of deploy/, with where it is."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panel in DASHBOARD["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in DASHBOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for path in (DEPLOY / "kubernetes").rglob("*.yaml"):
        text = re.sub(r">-\n\s+", "", path.read_text())
        for line in re.findall(r"(?:query|value): (.*relay_.*)", text):
            yield path.name, line


EXPRESSIONS = [
    pytest.param(expression, id=f"{place}-{number}") for number, (place, expression) in enumerate(expressions())
]


def told() -> dict[str, dict[str, set[str]]]:
    """What the relay tells when everything is in every state: series -> label -> its values."""
    device = "spyre"
    pulse = Pulse(
        sweep_age_s=1.0,
        inbox_waiting=1,
        inbox_age_s=1.0,
        outbox={(kind, state): 1 for kind in OutboxKind for state in OutboxState},
        outbox_age_s=1.0,
        runs={(device, state): 1 for state in RunState if state not in FINAL_RUN_STATES},
        shards={(device, state): 1 for state in (ShardState.DUE, ShardState.LEASED)},
        queue_age_s={(device, work_class): 1.0 for work_class in WorkClass},
        backlogs={device: Backlog()},
        workers={(device, state): 1 for state in WorkerState},
        heartbeat_age_s={device: 1.0},
    )
    recent = Recent(
        ended={(device, conclusion): 1 for conclusion in Conclusion},
        verdict_s={device: (1.0,)},
        imbalances={device: (1.0,)},
        stages=(StageFlow(1, "change", 2, 1),),
    )
    registry = CollectorRegistry()
    registry.register(RecordFigures(lambda: (pulse, recent)))
    ProcessFigures(registry).request("POST", "/github/webhook", 202, 0.1)
    found: dict[str, dict[str, set[str]]] = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        for sample in family.samples:
            labels = found.setdefault(sample.name, {"instance": set()})
            for name, value in sample.labels.items():
                labels.setdefault(name, set()).add(value)
    return found | OTHERS


TOLD = told()


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_series_and_label_asked_for_is_told(expression: str) -> None:
    selectors = _SELECTOR.findall(expression)
    assert selectors
    for name, labels in selectors:
        assert name in TOLD, f"the relay tells no {name}"
        for label, relation, value in _LABEL.findall(labels):
            assert label in TOLD[name], f"{name} has no label {label}"
            known = TOLD[name][label]
            if label not in {"status", "device"} and relation in {"=", "=~"} and "$" not in value:
                assert set(value.split("|")) <= known, f"{name} has no {label} {value}"


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_every_label_that_is_grouped_by_is_told(expression: str) -> None:
    known = set().union(*(TOLD[name] for name, _ in _SELECTOR.findall(expression)))
    for words in re.findall(r"\b(?:by|on) \(([^)]*)\)", expression):
        assert {word.strip() for word in words.split(",")} <= known


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_figures_of_the_record_are_not_added_up_over_replicas(expression: str) -> None:
    """Each replica tells the same: a sum would double with the second one."""
    for name, _ in _SELECTOR.findall(expression):
        if name.startswith("relay_") and "http" not in name and not expression.startswith(("absent(", "label_values(")):
            before = expression.partition(name)[0]
            assert re.search(r"max( by \([^)]*\) ?)?\($", before) or f"max({name}" in expression


def test_every_series_of_the_relay_is_on_the_dashboard() -> None:
    shown = {name for _, expression in expressions() for name, _ in _SELECTOR.findall(expression)}
    bases = {name.removesuffix("_count").removesuffix("_sum").removesuffix("_bucket") for name in shown}
    told_bases = {re.sub(r"_(count|sum|bucket|created)$", "", name) for name in TOLD if name.startswith("relay_")}
    assert told_bases <= bases


def test_every_alert_has_its_section_in_the_runbook_and_no_other_has() -> None:
    runbook = (DEPLOY / "RUNBOOK.md").read_text()
    sections = set(re.findall(r"^### (Relay\w+)$", runbook, re.MULTILINE))
    assert sections == {rule["alert"] for rule in RULES}
    for rule in RULES:
        assert rule["annotations"]["runbook"] == f"RUNBOOK.md#{rule['alert'].lower()}"
        assert rule["annotations"]["summary"]
        assert rule["labels"]["severity"] in {"page", "ticket"}


def test_the_dashboard_is_whole() -> None:
    panels = DASHBOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert place["x"] + place["w"] <= 24
        assert not taken & cells, f"{panel['title']} lies over another"
        taken |= cells
        assert panel["type"] == "row" or panel["targets"]
        if panel["type"] != "row":
            assert panel["datasource"]["uid"] == "${datasource}"


def promtool(*words: str) -> None:
    if shutil.which("promtool") is None:
        missing("promtool (Debian's prometheus) is not here: series and labels were checked, PromQL was not read")
    done = subprocess.run(
        ["promtool", *words],
        cwd=DEPLOY / "prometheus",
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ),
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("ci", "ends"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_a_check_that_was_not_made_is_no_success_in_ci(
    monkeypatch: pytest.MonkeyPatch, ci: str, ends: type[BaseException]
) -> None:
    """And .ci/run installs what it is made with."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("CI", ci)
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception), match="promtool") as ended:
        promtool("check", "config", "prometheus.yml")
    assert ended.type is ends
    assert "command -v promtool >/dev/null || missing+=(prometheus)" in (DEPLOY.parent / ".ci" / "run").read_text()


def test_promtool_accepts_configuration_and_rules() -> None:
    promtool("check", "config", "prometheus.yml")


def test_alerts_come_when_they_should_and_not_else() -> None:
    promtool("test", "rules", "alerts_test.yml")


def test_workers_are_as_many_as_the_shards_and_none_is_known_without_the_relay(tmp_path: Path) -> None:
    """Two web parts say the same; nothing to do is 0; a relay that is not asked is no answer, not 0."""
    (query,) = {
        trigger["metadata"]["query"].strip()
        for found in WRITTEN.values()
        if found["kind"] == "ScaledObject"
        for trigger in found["spec"]["triggers"]
    }
    builds = [{"series": f'relay_build_info{{instance="{one}"}}', "values": "1x9"} for one in "ab"]
    shards = [
        {"series": f'relay_shards{{instance="{one}", device="{device}", state="{state}"}}', "values": f"{count}x9"}
        for one in "ab"
        for device, state, count in (("spyre", "due", 3), ("spyre", "leased", 2), ("other", "due", 7))
    ]
    cases: list[tuple[list[dict[str, str]], list[int]]] = [(builds + shards, [5]), (builds, [0]), ([], [])]
    tests = [
        {
            "interval": "1m",
            "input_series": series,
            "promql_expr_test": [
                {
                    "expr": query,
                    "eval_time": "5m",
                    "exp_samples": [{"labels": "{}", "value": value} for value in wanted],
                }
            ],
        }
        for series, wanted in cases
    ]
    file = tmp_path / "scaling.yml"
    file.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": tests}))
    promtool("test", "rules", str(file))


def test_every_alert_is_seen_to_come() -> None:
    tried = yaml.safe_load((DEPLOY / "prometheus" / "alerts_test.yml").read_text())
    come = {one["alertname"] for test in tried["tests"] for one in test["alert_rule_test"] if one["exp_alerts"]}
    assert come == {rule["alert"] for rule in RULES}
