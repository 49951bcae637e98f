"""Titles over GraphQL: one query for many, nothing for strangers, null for what is not there."""

from __future__ import annotations

from typing import Any

import pytest

from relay.devgithub import App, Commit, MemorySource, close_pull, open_pull
from tests.github.client import HEAD, NEXT, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub


@pytest.fixture
def ask(client: GitHubClient, served: ServedGitHub, app: App) -> Any:
    """Asks a query with variables, as an installation of the upstream."""
    token = client.token(UPSTREAM)
    source = served.state.repository(UPSTREAM).source
    assert isinstance(source, MemorySource)
    source.add(Commit(HEAD, "Subject\n\nBody", author="Ada Author"))
    open_pull(served.state, UPSTREAM, head=HEAD, title="A “title”", author="ada")

    def query(document: str, **variables: object) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        body = {"query": document, "variables": variables}
        answer = client.anonymous("POST", "/graphql", headers=headers, json=body)
        assert answer.status_code == 200
        return answer.json()

    return query


def test_titles_and_authors_of_many_at_once(ask: Any) -> None:
    answer = ask(
        """query ($owner: String!, $name: String!, $sha: GitObjectID!, $other: GitObjectID!) {
             repository(owner: $owner, name: $name) {
               p1: pullRequest(number: 1) { number title state headRefOid author { login __typename } }
               c0: object(oid: $sha) { __typename ... on Commit { messageHeadline author { name user { login } } } }
               c1: object(oid: $other) { ... on Commit { messageHeadline } }
             }
           }""",
        owner="upstream",
        name="torch",
        sha=HEAD,
        other=NEXT,
    )
    assert answer == {
        "data": {
            "repository": {
                "p1": {
                    "number": 1,
                    "title": "A “title”",
                    "state": "OPEN",
                    "headRefOid": HEAD,
                    "author": {"login": "ada", "__typename": "User"},
                },
                "c0": {
                    "__typename": "Commit",
                    "messageHeadline": "Subject",
                    "author": {"name": "Ada Author", "user": {"login": "Ada-Author"}},
                },
                "c1": None,
            }
        }
    }


def test_what_is_not_there_is_null_with_an_error(ask: Any) -> None:
    """The others are answered all the same."""
    answer = ask('{ repository(owner: "upstream", name: "torch") { name p9: pullRequest(number: 9) { title } } }')
    assert answer["data"] == {"repository": {"name": "torch", "p9": None}}
    assert answer["errors"][0]["type"] == "NOT_FOUND"
    assert answer["errors"][0]["path"] == ["repository", "p9"]
    gone = ask('{ repository(owner: "no", name: "such") { name } rateLimit { remaining } }')
    assert gone["data"]["repository"] is None
    assert gone["data"]["rateLimit"]["remaining"] > 0


def test_a_private_repository_is_not_there_for_strangers(ask: Any, served: ServedGitHub) -> None:
    served.state.add_repository("other/hidden", private=True)
    answer = ask('{ repository(owner: "other", name: "hidden") { name } }')
    assert answer["data"] == {"repository": None}


def test_a_fragment_of_another_type_is_left_out(ask: Any) -> None:
    document = '{ repository(owner: "upstream", name: "torch") { object(oid: "%s") { ... on Tree { oid } } } }'
    assert ask(document % HEAD)["data"]["repository"] == {"object": {}}


def test_a_merged_pull_request_is_one(ask: Any, served: ServedGitHub) -> None:
    close_pull(served.state, UPSTREAM, 1, merged=True)
    answer = ask('{ repository(owner: "upstream", name: "torch") { pullRequest(number: 1) { state } } }')
    assert answer["data"]["repository"]["pullRequest"]["state"] == "MERGED"


def test_the_app_is_the_viewer(ask: Any) -> None:
    assert ask("{ viewer { login } }") == {"data": {"viewer": {"login": "relay[bot]"}}}


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ('{ repository(owner: "upstream", name: "torch") { stars } }', "'stars' doesn't exist on type 'Repository'"),
        ("{ repository(", "ends in the middle"),
        ("", "ends in the middle"),
    ],
)
def test_a_wrong_query_is_an_error_and_no_data(ask: Any, document: str, said: str) -> None:
    answer = ask(document)
    assert "data" not in answer
    assert said in answer["errors"][0]["message"]


def test_nobody_asks_without_a_credential(client: GitHubClient) -> None:
    assert client.anonymous("POST", "/graphql", json={"query": "{ viewer { login } }"}).status_code == 401
