"""The flake rate of a test is what the attempts on record show, and nothing more."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import Observation, TestedOn, TestResult, Tree
from relay.runs.flakes import flake_rate
from relay.store.engine import Store
from relay.views import FlakeRate
from tests.relay.stories import DEVICE, Story, attempt, planned, report_of

TEST, OTHER = (f"test/test_ops.py::TestOpsSPYRE::test_{name}_spyre" for name in ("x", "y"))
P, F, S = Observation.PASSED, Observation.FAILED, Observation.SKIPPED


def run(
    story: Story, head: Sequence[Observation], base: Sequence[Observation] = (), *, sha: str, torch: str = "2.13.0",
    reused: bool = False,
) -> None:  # fmt: skip  # as one reads it
    """One run of the test with these attempts."""
    story.open(head=sha * 40)
    tested = TestedOn(name="default", torch_version=torch)
    story.select(report_of([[planned(TEST), planned(OTHER)]], tested_on=tested))
    tries = [attempt(seen, number=number) for number, seen in enumerate(head, start=1)]
    tries += [
        attempt(seen, tree=Tree.BASE, number=number).model_copy(update={"reused": reused})
        for number, seen in enumerate(base, start=1)
    ]
    story.run_all({TEST: TestResult(id=TEST, attempts=tuple(tries))})


def rate(store: Store, *, runs: int = 100, device: str = DEVICE) -> tuple[int, int, int, int]:
    with store.reading() as session:
        found = flake_rate(session, TEST, device, runs=runs)
    return found.runs, found.attempts, found.commits, found.disagreements


def test_passing_and_failing_everywhere_are_no_disagreement(store: Store) -> None:
    """Three runs of three heads; base was seen once."""
    story = Story(store)
    run(story, [P], sha="a")
    run(story, [F, F], [P], sha="b")
    run(story, [S], sha="c")
    assert rate(store) == (3, 5, 4, 0)


def test_attempts_that_disagree_on_one_commit_are(store: Store) -> None:
    """Within a run on head, within a run on base, and over two runs of one head."""
    story = Story(store)
    run(story, [F, P], sha="a")
    run(story, [F, F], [F, P], sha="b")
    run(story, [P], sha="c")
    assert rate(store) == (3, 7, 4, 2)
    run(story, [F, F], [F], sha="c")
    assert rate(store) == (4, 10, 4, 3)


def test_another_environment_may_see_another_thing(store: Store) -> None:
    story = Story(store)
    run(story, [P], sha="a")
    run(story, [F, F], sha="a", torch="2.6.0")
    assert rate(store) == (2, 3, 2, 0)


def test_copies_of_earlier_attempts_do_not_count(store: Store) -> None:
    story = Story(store)
    run(story, [F, F], [F, P], sha="a", reused=True)
    assert rate(store) == (1, 2, 1, 0)


def test_only_the_newest_runs_of_the_device_are_looked_at(store: Store) -> None:
    story = Story(store)
    run(story, [F, P], sha="a")
    run(story, [P], sha="b")
    assert rate(store, runs=1) == (1, 1, 1, 0)
    assert rate(store, device="other") == (0, 0, 0, 0)


@pytest.mark.parametrize(("test", "shown"), [(TEST, 0.5), (OTHER, 0.0), ("never\0seen", None)])
def test_the_api_answers_a_share(client: TestClient, context: RelayContext, test: str, shown: float | None) -> None:
    story = Story(context.store)
    run(story, [F, P], sha="a")
    run(story, [P], sha="b")
    response = client.get("/api/v1/flakes", params={"test": test})
    assert response.json()["rate"] == shown
    assert FlakeRate.model_validate_json(response.content).rate == shown
