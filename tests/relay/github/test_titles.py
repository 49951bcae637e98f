"""The query for titles, and what is read from its answer."""

from __future__ import annotations

import pytest

from relay.github import titles
from relay.github.types import GitHubError

SHA = "a" * 40


def answer(repository: object, errors: object = None) -> dict[str, object]:
    """GraphQL's envelope."""
    return {"data": {"repository": repository}} | ({"errors": errors} if errors else {})


def portion() -> titles.Wanted:
    """A pull request and a commit."""
    (one,) = titles.wanted([7], [SHA])
    return one


def test_names_of_repositories_are_variables() -> None:
    """Nothing from outside becomes part of the query's text but digits."""
    body = titles.query('a"){x}#/b', portion())
    assert body["variables"] == {"owner": 'a"){x}#', "name": "b"}
    assert "){x}#" not in str(body["query"])


@pytest.mark.parametrize("sha", ["", "main", 'x") { id }', "a" * 39, "a" * 41, SHA + "\n", "g" * 40])
def test_what_is_no_sha_is_not_asked_for(sha: str) -> None:
    """It would make the whole query invalid."""
    assert titles.wanted([], [sha]) == []


def test_portions_hold_what_one_query_may() -> None:
    """All of them together everything, in order."""
    portions = titles.wanted(range(1, 121), [])
    assert [len(one) for one in portions] == [50, 50, 20]
    assert [name for one in portions for name, _ in one.values()] == [str(number) for number in range(1, 121)]


@pytest.mark.parametrize(
    ("pull", "found"),
    [
        ({"title": "T", "author": {"login": "octo"}}, ("T", "octo")),
        ({"title": "T", "author": None}, ("T", "")),
        ({"title": "T"}, ("T", "")),
        ({"title": "", "author": {"login": None}}, ("", "")),
        (None, None),
        ({}, None),
        ({"title": 7}, None),
        ("T", None),
    ],
)
def test_a_pull_request_has_a_title_and_maybe_an_author(pull: object, found: object) -> None:
    """An account that was deleted has no login; what is unknown is left out."""
    assert titles.titles(answer({"x0": pull, "x1": None}), portion()).get("7") == found


@pytest.mark.parametrize(
    ("commit", "found"),
    [
        ({"messageHeadline": "H", "author": {"user": {"login": "octo"}}}, ("H", "octo")),
        ({"messageHeadline": "H", "author": {"user": None}}, ("H", "")),
        ({"messageHeadline": "H", "author": None}, ("H", "")),
        ({}, None),
    ],
)
def test_a_commit_has_a_headline_and_maybe_an_author(commit: object, found: object) -> None:
    """A SHA that names something else than a commit gives an empty object."""
    assert titles.titles(answer({"x1": commit}), portion()).get(SHA) == found


def test_what_is_missing_does_not_spoil_the_rest() -> None:
    """GitHub answers with data and errors together."""
    errors = [{"type": "NOT_FOUND", "path": ["repository", "x0"], "message": "Could not resolve"}]
    body = answer({"x0": None, "x1": {"messageHeadline": "H", "author": None}}, errors)
    assert titles.titles(body, portion()) == {SHA: ("H", "")}


@pytest.mark.parametrize(
    ("body", "status", "passing"),
    [
        ({"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}, 429, True),
        (answer(None, [{"type": "NOT_FOUND", "message": "Could not resolve to a Repository"}]), 404, False),
        ({"errors": [{"message": "Something went wrong\nwhile executing"}]}, None, True),
        ({"data": None}, None, True),
        ({}, None, True),
        (None, None, True),
        ([], None, True),
        ({"errors": ["odd", 7]}, None, True),
    ],
)
def test_no_data_is_an_error_of_its_kind(body: object, status: int | None, passing: bool) -> None:
    """GitHub's status is 200 in every case."""
    with pytest.raises(GitHubError) as failed:
        titles.titles(body, portion())
    assert (failed.value.status, failed.value.passing) == (status, passing)
    assert failed.value.message.isprintable()
