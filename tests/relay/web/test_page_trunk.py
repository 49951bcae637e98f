"""The trunk's page: commits and jobs as a grid in windows, each cell with a glyph and words, for any text."""

from __future__ import annotations

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import event

from relay.context import RelayContext
from relay.settings import RelaySettings
from tests.conftest import OPERATOR_TOKEN, WORKER_TOKEN
from tests.relay.hud.told import told
from tests.relay.runs.test_trunk import end, push
from tests.relay.stories import REPO, Story
from tests.relay.web.test_pages import HOSTILE, in_order, page

pytestmark = pytest.mark.both_setups


@pytest.fixture
def settings(settings: RelaySettings) -> RelaySettings:
    tokens = {"worker_token": SecretStr(WORKER_TOKEN), "operator_token": SecretStr(OPERATOR_TOKEN)}
    return settings.model_copy(update={"upstream_repo": REPO, **tokens})


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store)


def test_an_empty_grid_says_how_commits_get_there(client: TestClient) -> None:
    assert "send push events to the relay's webhook" in page(client, "/trunk").text
    assert "No older push is on record" in page(client, "/trunk?before=1").text


def test_commits_and_jobs_are_a_grid(client: TestClient, story: Story) -> None:
    push(story, 1, title="Add an operator")
    end(story)
    push(story, 2, title="Break an operator")
    end(story, broken=True)
    told(story.store, "success", pr=0, sha=f"{2:040}")
    found = page(client, "/trunk")
    in_order(found.text, "1 failed", "2 passed", "spyre", "a/l2", "Break an operator", "✗ 1", "Add an operator", "✓")
    (broken,) = found.having("a", href="/runs/2")
    assert broken["aria-label"] == "selected tests on spyre: failed, 1 broken test"
    assert found.having("a", href="https://github.com/a/l2/actions/runs/100")
    (main,) = found.having("main", **{"data-poll": "60"})
    assert (main["data-events"] or "").startswith("/api/v1/events?after=")
    assert "data-stay" in main


def test_a_column_for_each_job_is_asked_for_in_the_address(client: TestClient, story: Story) -> None:
    push(story, 1)
    found = page(client, "/trunk?group=job")
    in_order(found.text, "Commit", "spyre", "selected tests", "commit 1")
    assert found.having("th", rowspan="2")
    assert "selected" in found.having("option", value="job")[0]


def test_older_commits_are_a_window_away(client: TestClient, story: Story) -> None:
    for number in range(1, 53):
        push(story, number)
    first = page(client, "/trunk?group=job")
    (older,) = first.having("a", rel="next")
    second = page(client, older["href"] or "")
    assert ("commit 3" in first.text, "commit 2\n" in first.text) == (True, False)
    in_order(second.text, "commit 2", "commit 1")
    assert second.having("a", rel="first", href="/trunk?group=job")
    assert second.having("input", name="before")
    assert not {"data-poll", "data-events"} & set(second.having("main")[0])
    assert "commit 1" in page(client, "/trunk?rows=200").text


@pytest.mark.parametrize("query", ["?group=odd&rows=7&before=x", "?rows=99999999999", "?before=-1", "?rows=201"])
def test_an_odd_address_is_still_a_page(client: TestClient, story: Story, query: str) -> None:
    push(story, 1)
    assert "commit 1" in page(client, f"/trunk{query}").text


def test_untrusted_text_is_never_markup(client: TestClient, story: Story) -> None:
    push(story, 1, title=HOSTILE)
    told(story.store, "failure", pr=0, sha=f"{1:040}", job_name=HOSTILE)
    for group in ("job", "device"):
        found = page(client, f"/trunk?group={group}")
        assert [script["src"] for script in found.having("script")] == ["/static/relay.js"]
        assert not found.having("img")
        assert all("style" not in attributes for _, attributes in found.elements)
        assert HOSTILE in found.text


@pytest.mark.parametrize("group", ["job", "device"])
def test_lines_and_columns_can_be_told_apart_between_windows(client: TestClient, story: Story, group: str) -> None:
    """A script puts windows under each other: by the commit's key and the column's."""
    for number in (1, 2):
        push(story, number)
        told(story.store, "success", pr=0, sha=f"{number:040}", job_name=f"job-{number}")
    found = page(client, f"/trunk?group={group}")
    assert [line["data-commit"] for line in found.having("tr") if "data-commit" in line] == ["2", "1"]
    keys = [head["data-column"] or "" for head in found.having("th") if "data-column" in head]
    assert keys == sorted(set(keys))
    assert len(keys) == (3 if group == "job" else 2)
    owners = [head["data-owner"] for head in found.having("th") if "data-owner" in head]
    assert owners == (["spyre", "a/l2"] if group == "job" else [])


def test_more_commits_take_no_more_queries(client: TestClient, story: Story, context: RelayContext) -> None:
    seen: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        seen.append(statement)

    counts = []
    for more in (range(1, 2), range(2, 20)):
        for number in more:
            push(story, number)
            end(story, broken=number % 3 == 0)
        event.listen(context.store.engine, "before_cursor_execute", note)
        page(client, "/trunk")
        event.remove(context.store.engine, "before_cursor_execute", note)
        counts.append(len(seen))
        seen.clear()
    assert counts[0] == counts[1] <= 7
