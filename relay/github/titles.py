"""One GraphQL query for the titles and authors of many pull requests and commits. Pure: it writes and reads texts.

Source: https://docs.github.com/en/graphql/reference/objects#repository
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from relay.github.refusals import one_line
from relay.github.types import GitHubError

#: Things that one query asks for.
QUERY_CAP = 50
_SHA = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
_PULL = "title author { login }"
_COMMIT = "... on Commit { messageHeadline author { user { login } } }"

#: What is asked for, by alias: the name in the answer to our caller, and the field of the query.
Wanted = Mapping[str, tuple[str, str]]


def wanted(pulls: Iterable[int], shas: Iterable[str]) -> Sequence[Wanted]:
    """What to ask for, in portions of one query each. What is no SHA is left out: it would spoil the whole query."""
    asked = [(str(int(number)), f"pullRequest(number: {int(number)}) {{ {_PULL} }}") for number in pulls]
    asked += [(sha, f'object(oid: "{sha}") {{ {_COMMIT} }}') for sha in shas if _SHA.fullmatch(sha)]
    aliased = [(f"x{index}", one) for index, one in enumerate(asked)]
    return [dict(aliased[start : start + QUERY_CAP]) for start in range(0, len(aliased), QUERY_CAP)]


def query(repo: str, portion: Wanted) -> dict[str, object]:
    """The request's body. The repository's name is a variable; numbers and SHAs cannot hold anything else."""
    fields = " ".join(f"{alias}: {field}" for alias, (_, field) in portion.items())
    owner, _, name = repo.partition("/")
    text = f"query($owner: String!, $name: String!) {{ repository(owner: $owner, name: $name) {{ {fields} }} }}"
    return {"query": text, "variables": {"owner": owner, "name": name}}


def titles(body: object, portion: Wanted) -> Mapping[str, tuple[str, str]]:
    """Title and login by name, of those that exist. GitHub answers 200 in any case.

    Raises:
        GitHubError: there are no data at all; 429 when that is its rate limit.
    """
    data = _mapping(_mapping(body).get("data"))
    repository = data.get("repository")
    if not isinstance(repository, dict):
        raise _failure(_mapping(body).get("errors"))
    found = {name: _entry(repository.get(alias)) for alias, (name, _) in portion.items()}
    return {name: entry for name, entry in found.items() if entry is not None}


def _entry(value: object) -> tuple[str, str] | None:
    item = _mapping(value)
    title = item.get("title", item.get("messageHeadline"))
    if not isinstance(title, str):
        return None
    author = _mapping(item.get("author"))
    login = author.get("login", _mapping(author.get("user")).get("login"))
    # An account that was deleted leaves no login.
    return title, login if isinstance(login, str) else ""


def _failure(errors: object) -> GitHubError:
    listed = [_mapping(error) for error in errors] if isinstance(errors, list) else []
    said = one_line("; ".join(str(error.get("message", "")) for error in listed)) or "it holds no data"
    limited = any(error.get("type") in ("RATE_LIMITED", "RATE_LIMIT") for error in listed)
    missing = any(error.get("type") == "NOT_FOUND" for error in listed)
    return GitHubError(f"GitHub's GraphQL answer: {said}", status=429 if limited else 404 if missing else None)


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
