"""Titles are those of the newest run, of the repository that was asked about, on both databases."""

from __future__ import annotations

from relay.runs.titles import known_titles
from relay.store.engine import Store
from tests.relay.stories import REPO, Story


def test_the_newest_title_of_each_pull_request_is_known(store: Store) -> None:
    story = Story(store)
    story.open(pr=7, title="An old title")
    story.open(pr=7, title="A new title")
    story.open(pr=8, title="Another")
    story.open(pr=9, title="")
    with store.reading() as session:
        assert known_titles(session, REPO, [9, 8, 7, 6]) == {7: "A new title", 8: "Another"}
        assert known_titles(session, "a/fork", [7]) == {}
        assert known_titles(session, REPO, []) == {}
