"""What a worker is told about cutting the plan: from a label in a webhook to the order of the select shard, by HTTP."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from relay.contract import Lease, LeaseRequest, SelectOrder
from relay.intake.signature import sign
from relay.settings import RelaySettings
from relay.views import RunPage
from tests.conftest import WEBHOOK_SECRET

PAYLOAD = json.loads((Path(__file__).parents[3] / "relay/demo/payloads/pull_request.opened.json").read_text("utf-8"))


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    """A service with a budget, for the repository of the payload."""
    wishes = {"upstream_repo": PAYLOAD["repository"]["full_name"], "selection_budget_s": 600.0, "holdout_share": 0.05}
    return settings.model_copy(update=wishes)


def deliver(client: TestClient, delivery: str, action: str, label: str = "") -> None:
    payload = json.loads(json.dumps(PAYLOAD)) | {"action": action}
    if label:
        payload["label"] = {"name": label}
        payload["pull_request"]["labels"].append({"name": label})
    body = json.dumps(payload).encode()
    headers = {"X-GitHub-Event": "pull_request", "X-GitHub-Delivery": delivery}
    signed = headers | {"X-Hub-Signature-256": sign(WEBHOOK_SECRET, body)}
    assert client.post("/github/webhook", content=body, headers=signed).status_code == 200


def order(client: TestClient, worker_auth: dict[str, str]) -> SelectOrder:
    wanted = LeaseRequest(worker="w1", device="spyre").model_dump(mode="json")
    lease = Lease.model_validate_json(client.post("/api/v1/worker/lease", json=wanted, headers=worker_auth).text)
    assert lease.select is not None
    return lease.select


def test_an_opened_pull_request_is_selected_within_the_budget(client: TestClient, worker_auth: dict[str, str]) -> None:
    deliver(client, "d1", "opened")
    told = order(client, worker_auth)
    assert (told.full, told.budget_s, told.holdout) == ("", 600.0, 0.05)


def test_the_label_makes_a_new_run_of_everything(client: TestClient, worker_auth: dict[str, str]) -> None:
    """The reason goes from the label to the worker and to the list of runs."""
    deliver(client, "d1", "opened")
    deliver(client, "d2", "labeled", "ci-no-td")
    assert order(client, worker_auth).full == 'the pull request has the label "ci-no-td"'
    runs = RunPage.model_validate_json(client.get("/api/v1/runs").text).runs
    assert [(bool(run.full), run.state) for run in runs] == [(True, "selecting"), (False, "cancelled")]


def test_another_label_is_answered_as_ignored(client: TestClient) -> None:
    deliver(client, "d1", "labeled", "module: nn")
    assert RunPage.model_validate_json(client.get("/api/v1/runs").text).runs == ()
