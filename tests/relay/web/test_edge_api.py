"""What selections missed is listed for readers; an operator forgets what is wrong, and that is in the log."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.runs.misses import missed_with, record_miss
from tests.relay.stories import Story

TESTS = [f"test/test_ops.py::TestOps::test_{name}" for name in ("add", "relu", "100%")]


@pytest.fixture
def run_id(context: RelayContext) -> int:
    """A run whose selection missed three tests with two files."""
    run_id = Story(context.store, now=context.now()).open()
    with context.store.writing() as session:
        for test in TESTS:
            record_miss(
                session,
                device=context.settings.device,
                changed_paths=["torch/a.py", "torch/b.py"],
                base_test=test,
                evidence="it broke",
                run_id=run_id,
                now=context.now(),
            )
    return run_id


def listed(client: TestClient, **query: object) -> list[str]:
    found = client.get("/api/v1/edges", params={name: str(value) for name, value in query.items()}).json()
    return [f"{edge['changed_path']} {edge['base_test'].rpartition('_')[2]}" for edge in found["edges"]]


def test_they_are_found_by_file_test_and_run(client: TestClient, run_id: int) -> None:
    """A wildcard is a character like any other."""
    assert listed(client) == [f"torch/{file}.py {name}" for name in ("100%", "relu", "add") for file in "ba"]
    assert listed(client, q="A.PY") == [f"torch/a.py {name}" for name in ("100%", "relu", "add")]
    assert listed(client, q="%") == ["torch/b.py 100%", "torch/a.py 100%"]
    assert listed(client, q="relu", run=run_id) == ["torch/b.py relu", "torch/a.py relu"]
    for nothing in ({"run": run_id + 1}, {"device": "other"}, {"q": "\0"}):
        assert listed(client, **nothing) == []


def test_they_go_on_by_next(client: TestClient, run_id: int) -> None:
    """And the whole number is told with every part."""
    first = client.get("/api/v1/edges?limit=4&q=torch").json()
    rest = client.get(first["next"]).json()
    assert (len(first["edges"]), first["total"], len(rest["edges"]), rest["total"], rest["next"]) == (4, 6, 2, 6, None)


def test_an_operator_forgets_them(
    client: TestClient, context: RelayContext, operator_auth: dict[str, str], run_id: int
) -> None:
    """Then they tie nothing any more; who did it is in the log."""
    ids = [edge["id"] for edge in client.get("/api/v1/edges?q=a.py").json()["edges"]]
    answer = client.post("/api/v1/edges/remove", json={"ids": [*ids, 4711]}, headers=operator_auth).json()
    assert (sorted(edge["id"] for edge in answer["removed"]), answer["unknown"]) == (sorted(ids), [4711])
    with context.store.reading() as session:
        assert missed_with(session, context.settings.device, ["torch/a.py"]) == []
        assert len(missed_with(session, context.settings.device, ["torch/b.py"])) == 3
    (action,) = client.get("/api/v1/actions?action=edge.remove", headers=operator_auth).json()["actions"]
    assert "torch/a.py -> test/test_ops.py::TestOps::test_add" in action["detail"]


def test_what_is_not_there_is_not_in_the_log(client: TestClient, operator_auth: dict[str, str]) -> None:
    assert client.post("/api/v1/edges/remove", json={"ids": [1]}, headers=operator_auth).json()["unknown"] == [1]
    assert client.get("/api/v1/actions", headers=operator_auth).json()["actions"] == []


@pytest.mark.parametrize("body", [{}, {"ids": []}, {"ids": [0]}, {"ids": [2**31]}, {"ids": list(range(1, 502))}])
def test_a_request_of_another_form_is_refused(
    client: TestClient, operator_auth: dict[str, str], body: dict[str, object]
) -> None:
    assert client.post("/api/v1/edges/remove", json=body, headers=operator_auth).status_code == 422


def test_without_a_token_nothing_is_forgotten(client: TestClient, run_id: int) -> None:
    assert client.post("/api/v1/edges/remove", json={"ids": [1]}).status_code == 401
    assert len(listed(client)) == 6
