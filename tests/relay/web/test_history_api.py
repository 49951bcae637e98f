"""Tests are found by a part of their names, in the newest finished runs."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from tests.relay.runs.test_histories import TEST, failed, pushed
from tests.relay.stories import Story, passed


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store, now=context.now())


def test_a_part_of_a_name_leads_to_whole_ids(client: TestClient, story: Story) -> None:
    """In any letter case, with the newest run that planned it; a wildcard is a character like any other."""
    pushed(story, "a", passed(TEST))
    newest = pushed(story, "b", failed())
    told = client.get("/api/v1/tests", params={"q": TEST.rpartition("::")[2].upper()[:9]}).json()
    assert told["tests"] == [{"id": TEST, "run_id": newest, "verdict": told["tests"][0]["verdict"]}]
    assert told["next"] is None
    for nothing in ("_%", "no such test", "\0"):
        assert client.get("/api/v1/tests", params={"q": nothing}).json()["tests"] == []
    assert client.get("/api/v1/tests", params={"q": TEST, "device": "other"}).json()["tests"] == []


def test_without_a_name_nothing_is_looked_for(client: TestClient) -> None:
    assert client.get("/api/v1/tests").status_code == 422
    assert client.get("/api/v1/tests", params={"q": ""}).status_code == 422
