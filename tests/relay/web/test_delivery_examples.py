"""What the description of the API shows as answers about backends and deliveries are answers."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.hud.views import BackendDetail, BackendList
from relay.intake.views import DeliveryDetail, DeliveryPage
from relay.outbox.views import LetterDetail, LetterPage, Replayed, ReplayRequest
from relay.views import View

MODELS: tuple[type[View], ...] = (
    *(BackendList, BackendDetail, DeliveryPage, DeliveryDetail),
    *(LetterPage, LetterDetail, ReplayRequest, Replayed),
)


@pytest.mark.parametrize("model", MODELS)
def test_an_example_is_what_the_route_answers(client: TestClient, model: type[View]) -> None:
    described = client.get("/api/v1/openapi.json").json()["components"]["schemas"][model.__name__]
    (example,) = described["examples"]
    assert set(example) == set(model.model_fields)
    assert model.model_validate(example)


@pytest.mark.parametrize("path", ["/api/v1/backends", "/api/v1/inbox", "/api/v1/outbox"])
def test_every_route_and_parameter_is_told_in_words(client: TestClient, path: str) -> None:
    found = {name: item for name, item in client.get("/api/v1/openapi.json").json()["paths"].items() if path in name}
    assert found
    for item in found.values():
        for operation in item.values():
            assert operation["description"]
            assert operation["tags"]
