"""The pictures of a run's page: each has a text alternative and its figures beside it, whatever text is in them."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from tests.relay.stories import Story, passed, planned, report_of
from tests.relay.web.test_page_tests import queries
from tests.relay.web.test_pages import HOSTILE, in_order, page

TESTS = [f"test/test_demo.py::TestDemoSPYRE::test_{number}" for number in range(6)]


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store)


def test_the_funnel_is_a_picture_beside_its_numbers(client: TestClient, story: Story) -> None:
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    found = page(client, f"/runs/{run}")
    (picture,) = [one for one in found.having("svg", role="img") if "Funnel" in (one["aria-label"] or "")]
    assert "Stage 4, manifests: 6 of 6 collected tests left it" in (picture["aria-label"] or "")
    assert len(found.having("polygon", **{"class": "funnel-band"})) == 4
    in_order(found.text, "1 changed files", "2 ownership", "\N{MINUS SIGN}200", "3 triage", "6 collected tests")


def test_every_shard_has_a_lane_and_its_times_in_the_table(client: TestClient, story: Story) -> None:
    run = story.open()
    story.select(report_of([[planned(test)] for test in TESTS]))
    shard, lease, tests = story.lease()
    story.report(shard, lease, [passed(tests[0])])
    found = page(client, f"/runs/{run}")
    lanes = [lane["aria-label"] or "" for lane in found.having("svg", **{"class": "tl-lane"})]
    assert len(lanes) == 7
    assert lanes[0].startswith("Shard 1: waiting for 1.0 s, from the start on; selecting for 1.0 s, from 1.0 s on")
    assert "so far" in lanes[1]
    assert len(found.having("rect", **{"class": "tl-running"})) == 2  # the bar, and its sample in the legend
    in_order(found.text, "Shards over time", "waiting", "selecting", "starting", "running", "since it came", "Waited")


def test_there_is_no_time_line_before_time_went_by(client: TestClient, story: Story, context: RelayContext) -> None:
    story.now = context.now().replace(year=context.now().year + 1)
    run = story.open()
    assert "Shards over time" not in page(client, f"/runs/{run}").text


def test_the_names_of_workers_are_never_markup(client: TestClient, story: Story) -> None:
    story.worker = HOSTILE
    run = story.open()
    story.select(report_of([[planned(test) for test in TESTS]]))
    story.run_all({})
    found = page(client, f"/runs/{run}")
    assert not found.having("img")
    assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
    assert all("style" not in attributes for _, attributes in found.elements)


def test_more_shards_take_no_more_queries(client: TestClient, story: Story, context: RelayContext) -> None:
    runs = [story.open(pr=1)]
    story.select(report_of([[planned(TESTS[0])]]))
    story.run_all({})
    runs.append(story.open(pr=2))
    story.select(report_of([[planned(test)] for test in TESTS]))
    story.run_all({})
    few = queries(context, lambda: client.get(f"/runs/{runs[0]}"))
    assert queries(context, lambda: client.get(f"/runs/{runs[1]}")) == few <= 24
