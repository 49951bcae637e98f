"""The page about manifests: places, findings, excuses and proposals, narrowed by the address, for any text."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import event

from relay.context import RelayContext
from relay.contract import Expected
from relay.manifest_views import ManifestsView
from relay.manifests import ManifestStore
from tests.relay.stories import Story, passed, planned, report_of
from tests.relay.test_manifest_report import GOOD
from tests.relay.web.test_pages import in_order, page

TEST = "test/test_ops.py::TestOpsSPYRE::test_add__float32"
NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture
def client(app: FastAPI, context: RelayContext) -> TestClient:
    (context.settings.manifest_dir / "ops.yaml").write_text(GOOD)
    app.state.relay = replace(context, now=lambda: NOW)
    return TestClient(app)


def passing_runs(context: RelayContext, numbers: range) -> None:
    """Finished runs, a day after the other and each on another machine, in which an excused test passes."""
    for number in numbers:
        story = Story(context.store, now=NOW + timedelta(days=number - 20), worker=f"machine-{number % 3}")
        story.open(pr=number + 1)
        story.select(report_of([[planned(TEST, expected=Expected.XFAIL)]]))
        story.run_all({TEST: passed(TEST)})


def test_a_relay_without_manifests_says_where_they_go(app: FastAPI) -> None:
    text = page(TestClient(app), "/manifests").text
    in_order(text, "No manifest is in use", "Nothing is wrong", "No entry", "No test that is expected", "No test file")


def test_each_device_has_manifests_of_its_own(app: FastAPI, client: TestClient, tmp_path: Path) -> None:
    context, folder = app.state.relay, tmp_path / "stones"
    folder.mkdir()
    (folder / "stones.yaml").write_text(GOOD)
    other = replace(context.backends[0], device="quartz", manifest_dir=folder, manifests=ManifestStore(folder))
    app.state.relay = replace(context, backends=(*context.backends, other))
    assert "stones.yaml" not in page(client, "/manifests").text
    quartz = page(client, "/manifests?device=quartz")
    assert "stones.yaml:4" in quartz.text
    assert "selected" in quartz.having("option", value="quartz")[0]
    assert client.get("/api/v1/manifests?device=quartz").json()["manifests"] == ["stones.yaml"]
    assert "Name one of spyre, quartz" in client.get("/api/v1/manifests?device=basalt").json()["hint"]


def test_what_is_loaded_found_and_running_out(client: TestClient) -> None:
    text = page(client, "/manifests").text
    in_order(
        text,
        *("1 manifest in use: 1 test file of upstream, 4 names", "ops.yaml", "Findings", "warning", "ops.yaml:15:20"),
        *("expired-entry: Run the tests", "Excuses that run out", "expired 3 days ago", "ops.yaml:13", "may fail"),
        *("expires in 18 days", "TestOps::test_add", "not there yet", "owner/repo#12", "ask somebody"),
        *("What is loaded", "test/test_ops.py", "ops.yaml:4", "1 must pass, 2 may fail", "must pass"),
    )


def test_lists_are_narrowed_by_the_address(client: TestClient) -> None:
    assert "No finding matches" in page(client, "/manifests?severity=error").text
    assert "No loaded file matches" in page(client, "/manifests?q=no-such-file").text
    only = page(client, "/manifests?q=test_ops&within=365")
    assert "test_own.py" not in only.text
    assert only.having("option", value="365")


@pytest.mark.parametrize("query", ["?severity=odd&within=x&page=x", "?page=99999", "?within=31", "?q=%00"])
def test_an_odd_address_is_still_a_page(client: TestClient, query: str) -> None:
    assert "1 manifest in use" in page(client, f"/manifests{query}").text


def test_a_long_list_of_findings_is_paged(client: TestClient, context: RelayContext) -> None:
    entry = "        - names: [TestOps::test_old{0}]\n          mode: xfail\n          expires: 2026-01-01\n"
    text = GOOD.replace(
        "    - path: ${TORCH_DEVICE", "".join(map(entry.format, range(150))) + "    - path: ${TORCH_DEVICE"
    )
    (context.settings.manifest_dir / "ops.yaml").write_text(text)
    first = page(client, "/manifests?severity=warning")
    (following,) = first.having("a", rel="next")
    second = page(client, following["href"] or "")
    assert "101\N{EN DASH}" in second.text
    assert second.having("a", rel="prev", href="/manifests?severity=warning#findings")


def test_what_has_long_passed_is_proposed_with_the_command(client: TestClient, context: RelayContext) -> None:
    passing_runs(context, range(9))
    in_order(page(client, "/manifests").text, "1 pass now and wait", "test_add", "9 of 10 runs")
    passing_runs(context, range(9, 20))
    in_order(
        page(client, "/manifests").text,
        *("long enough to be required", "relay manifest promote --from-run 20 --from-run 19", "require"),
        *("ops.yaml:7", "test/test_ops.py::test_add", "1 variant passed 20 runs on 20 days"),
    )


def test_the_same_over_http(client: TestClient, context: RelayContext) -> None:
    passing_runs(context, range(2))
    view = ManifestsView.model_validate(client.get("/api/v1/manifests").json())
    assert [block.place for block in view.blocks] == ["ops.yaml:4", "ops.yaml:17"]
    assert len(view.digest) == 64
    assert [one.base for one in view.promotions.waiting] == ["test_add"]


def test_untrusted_text_is_never_markup(client: TestClient, context: RelayContext) -> None:
    hostile = "<img src=x onerror=alert(1)>{{ 7*7 }}"
    text = GOOD.replace("not there yet", f"'{hostile}'").replace('"owner/repo#12"', '"https://x.example/<script>"')
    (context.settings.manifest_dir / "ops.yaml").write_text(text)
    found = page(client, "/manifests")
    assert not found.having("img")
    assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
    assert hostile in found.text
    assert all("style" not in attributes for _, attributes in found.elements)


def test_a_page_has_a_fixed_number_of_queries(client: TestClient, context: RelayContext) -> None:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    counts = []
    for runs in (range(1), range(1, 5)):
        passing_runs(context, runs)
        event.listen(context.store.engine, "before_cursor_execute", note)
        page(client, "/manifests")
        event.remove(context.store.engine, "before_cursor_execute", note)
        counts.append(len(seen))
        seen.clear()
    assert counts[0] == counts[1] <= 6
