"""One call says what a change broke and why, within bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fastapi.testclient import TestClient

from relay.change_views import ChangeGroup, ChangeView
from relay.context import RelayContext
from tests.relay.runs.test_changes import HEAD, TESTS, repeat, told
from tests.relay.stories import REPO, Story, planned, report_of


@pytest.fixture
def story(context: RelayContext) -> Story:
    return Story(context.store)


@pytest.mark.parametrize("path", ["pulls/7", f"commits/{HEAD}", f"commits/{HEAD[:7]}", f"pulls/7?repo={REPO}"])
def test_a_change_is_told_by_its_newest_answers(client: TestClient, story: Story, path: str) -> None:
    run = told(story)
    again = repeat(story, run, {}, *TESTS[:3])
    change = ChangeView.model_validate(client.get(f"/api/v1/{path}").json())
    assert (change.repo, change.pr_number, change.head_sha) == (REPO, 7, HEAD)
    assert (change.run.id, change.repeats, [one.id for one in change.runs]) == (run, (again,), [again, run])
    assert change.counts[ChangeGroup.FLAKY] == 3
    assert [test.id for test in change.tests[ChangeGroup.FLAKY]] == TESTS[:3]
    assert ChangeGroup.FINE not in change.tests
    assert (change.base.fixed, change.base.failing) == (1, 1)


def test_tests_are_bounded_and_counts_are_not(client: TestClient, story: Story) -> None:
    told(story)
    change = ChangeView.model_validate(client.get("/api/v1/pulls/7?limit=1").json())
    assert [test.detail for test in change.tests[ChangeGroup.NEW]] == ["boom"]
    assert change.counts[ChangeGroup.NEW] == 2


def test_every_device_has_its_answer_and_one_is_told_whole(context: RelayContext, client: TestClient) -> None:
    object.__setattr__(context, "backends", (*context.backends, replace(context.backends[0], device="quartz")))
    first = told(Story(context.store))
    other = Story(context.store, device="quartz")
    second = other.open(pr=7, head=HEAD)
    other.select(report_of([[planned(TESTS[0])]]))
    other.run_all({})
    change, quartz = (
        ChangeView.model_validate(client.get(f"/api/v1/pulls/7{query}").json()) for query in ("", "?device=quartz")
    )
    assert (change.run.id, change.counts[ChangeGroup.NEW]) == (first, 2)
    assert (quartz.run.id, quartz.counts[ChangeGroup.NEW], quartz.counts[ChangeGroup.FINE]) == (second, 0, 1)
    told_of = [(answer.device, answer.run.id, answer.counts[ChangeGroup.NEW]) for answer in change.devices]
    assert told_of == [("spyre", first, 2), ("quartz", second, 0)]
    assert quartz.devices == change.devices
    missing = client.get("/api/v1/pulls/7?device=basalt")
    assert (missing.status_code, "on basalt" in missing.json()["message"]) == (404, True)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("pulls/8", 404),
        ("pulls/7?repo=a/b", 404),
        ("pulls/7?repo=%00", 404),
        ("pulls/0", 422),
        ("pulls/99999999999", 422),
        ("pulls/7?limit=201", 422),
        (f"commits/{'b' * 40}", 404),
        ("commits/abc", 422),
        ("commits/zzzzzzz", 422),
    ],
)
def test_what_is_not_known_is_refused_with_a_next_step(
    client: TestClient, story: Story, path: str, status: int
) -> None:
    told(story)
    answer = client.get(f"/api/v1/{path}")
    assert answer.status_code == status
    assert answer.json()["message"]
