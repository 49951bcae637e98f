"""What a reader finds who looks for tests by a part of their names: the read model of `GET /api/v1/tests`."""

from __future__ import annotations

from pydantic import ConfigDict, JsonValue

from relay.views import Page, Verdict, View

_TEST: dict[str, JsonValue] = {
    "id": "test/test_ops.py::TestOpsSPYRE::test_relu_spyre_float32",
    "run_id": 128,
    "verdict": "ok",
}


class FoundTestView(View):
    """A collected test, with the newest run that planned it and what that found out."""

    model_config = ConfigDict(frozen=True, json_schema_extra={"examples": [_TEST]})

    id: str
    run_id: int
    verdict: Verdict | None


class FoundTestPage(Page):
    """`GET /api/v1/tests`, by name. `runs` finished runs were searched, the newest on the device."""

    model_config = ConfigDict(
        frozen=True,
        json_schema_extra={"examples": [{"tests": [_TEST], "device": "spyre", "runs": 10, "next": None}]},
    )

    tests: tuple[FoundTestView, ...]
    device: str
    runs: int
