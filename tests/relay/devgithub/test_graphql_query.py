"""Queries as GraphQL clients write them, and what is refused in words."""

from __future__ import annotations

import pytest

from relay.devgithub.graphql_query import Field, QueryError, parse_query


def test_reads_aliases_arguments_fragments_and_variables() -> None:
    document = """
    # a comment, and commas are blanks
    query Titles($owner: String!, $numbers: [Int!]! = [1, 2], $draft: Boolean = false) {
      repository(owner: $owner, name: "torch \\"x\\"", order: DESC) {
        p1: pullRequest(number: 7, only: $numbers, draft: $draft) { title, ... on PullRequest { url } }
      }
    }
    """
    (repository,) = parse_query(document, {"owner": "upstream", "draft": True})
    assert repository.arguments == {"owner": "upstream", "name": 'torch "x"', "order": "DESC"}
    (pull,) = repository.fields
    assert (pull.name, pull.alias) == ("pullRequest", "p1")
    assert pull.arguments == {"number": 7, "only": [1, 2], "draft": True}
    assert pull.fields == (Field("title", "title"), Field("url", "url", on="PullRequest"))


@pytest.mark.parametrize("document", ["{a}", "query{a}", "query Name {a}", "{\ufeff a,}", "query N($x:Int){a}"])
def test_reads_every_way_to_begin(document: str) -> None:
    assert parse_query(document, {}) == (Field("a", "a"),)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("", "ends in the middle"),
        ("{a", "ends in the middle"),
        ('{a(b: "c)}', "unexpected text"),
        ("{a(b: $c)}", "[$]c was not given a value"),
        ("{a(b: })}", "no value begins with"),
        ("{a(b 1)}", "expected ':'"),
        ("{...Part}", "only inline fragments"),
        ("{a} fragment Part on T {b}", "without named fragments"),
        ("mutation {a}", "expected '{'"),
        ("{1}", "expected a name"),
        ("{" * 50 + "}" * 50, "expected a name"),
        ("{a" * 50 + "}" * 50, "nested too deeply"),
    ],
)
def test_refuses_in_words(document: str, said: str) -> None:
    with pytest.raises(QueryError, match=said):
        parse_query(document, {})
