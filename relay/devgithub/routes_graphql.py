"""The GraphQL route: titles, authors and states of pull requests, messages of commits.

A field that is not listed here is refused as GitHub refuses one that its schema has not.
Source: https://docs.github.com/en/graphql/reference/objects (Repository, PullRequest, Commit).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Body

from relay.devgithub.access import Caller, CallerOf, State
from relay.devgithub.bodies import Json, maybe_moment, moment, web_url
from relay.devgithub.graphql_query import Field, QueryError, parse_query
from relay.devgithub.records import Pull, RefusedError, Repository
from relay.devgithub.sources import Commit
from relay.devgithub.state import DevGitHub

router = APIRouter()
_BAD_NAME = "Could not resolve to a {kind} with the {by} of {value}."


class _Unresolved(Exception):  # noqa: N818 - it is a fact about the data, not a failure of ours
    """A thing that was asked for is not there: its field is null and an error names it."""


@router.post("/graphql")
def graphql(caller: CallerOf, state: State, body: Annotated[dict[str, Any], Body()]) -> Json:
    """The answer to a query: 200 with `data`, and `errors` for what could not be had."""
    if not caller.name:
        raise RefusedError(401, "This endpoint requires you to be authenticated.")
    try:
        fields = parse_query(str(body.get("query", "")), body.get("variables") or {})
        return _Answering(state, caller).answer(fields)
    except QueryError as error:
        return {"errors": [{"message": str(error)}]}


class _Answering:
    """One query's answer."""

    def __init__(self, state: DevGitHub, caller: Caller) -> None:
        self._state = state
        self._caller = caller
        self._errors: list[Json] = []

    def answer(self, fields: Sequence[Field]) -> Json:
        roots = {"repository": self._repository, "rateLimit": self._rate_limit, "viewer": self._viewer}
        data = self._resolve("Query", fields, roots, ())
        return {"data": data, **({"errors": self._errors} if self._errors else {})}

    def _resolve(
        self, kind: str, fields: Sequence[Field], known: Mapping[str, Callable[[Field, Any], object]], path: Any
    ) -> Json:
        """The chosen fields of a thing. Fields under a condition on another type are left out."""
        answer: Json = {}
        for field in fields:
            if field.on not in ("", kind, "Node", "GitObject"):
                continue
            if field.name == "__typename":
                answer[field.alias] = kind
                continue
            if field.name not in known:
                raise QueryError(f"Field '{field.name}' doesn't exist on type '{kind}'")
            answer[field.alias] = self._one(field, known[field.name], (*path, field.alias))
        return answer

    def _one(self, field: Field, resolve: Callable[[Field, Any], object], path: Any) -> object:
        try:
            return resolve(field, path)
        except _Unresolved as missing:
            self._errors.append({"type": "NOT_FOUND", "path": list(path), "message": str(missing)})
            return None

    def _repository(self, field: Field, path: Any) -> object:
        full_name = f"{field.arguments.get('owner')}/{field.arguments.get('name')}"
        try:
            repository = self._state.repository(full_name)
            self._caller.check(repository, "metadata")
        except RefusedError as refused:
            said = _BAD_NAME.format(kind="Repository", by="name", value=f"'{full_name}'")
            raise _Unresolved(said) from refused
        known: Mapping[str, Callable[[Field, Any], object]] = {
            "nameWithOwner": lambda _field, _path: repository.full_name,
            "name": lambda _field, _path: repository.name,
            "isPrivate": lambda _field, _path: repository.private,
            "pullRequest": lambda child, below: self._pull(repository, child, below),
            "object": lambda child, below: self._object(repository, child, below),
        }
        return self._resolve("Repository", field.fields, known, path)

    def _pull(self, repository: Repository, field: Field, path: Any) -> object:
        number = field.arguments.get("number")
        pull = repository.pulls.get(number) if isinstance(number, int) else None
        if pull is None:
            raise _Unresolved(_BAD_NAME.format(kind="PullRequest", by="number", value=number))
        known = {name: _constant(value) for name, value in self._pull_values(repository, pull).items()}
        author = {"author": lambda child, below: self._actor(pull.author, child, below)}
        return self._resolve("PullRequest", field.fields, {**known, **author}, path)

    def _pull_values(self, repository: Repository, pull: Pull) -> Json:
        return {
            "number": pull.number,
            "title": pull.title,
            "body": pull.body,
            "state": "MERGED" if pull.merged_at else pull.state.upper(),
            "isDraft": pull.draft,
            "url": web_url(self._state, repository, f"/pull/{pull.number}"),
            "headRefOid": pull.head_sha,
            "headRefName": pull.head_ref,
            "baseRefOid": pull.base_sha,
            "baseRefName": pull.base_ref,
            "createdAt": moment(pull.created_at),
            "updatedAt": moment(pull.updated_at),
            "mergedAt": maybe_moment(pull.merged_at),
        }

    def _object(self, repository: Repository, field: Field, path: Any) -> object:
        """A commit by `oid` or `expression`; what is not there is null, without an error."""
        revision = field.arguments.get("oid", field.arguments.get("expression"))
        commit = repository.source.commit(str(revision))
        if commit is None:
            return None
        known = {name: _constant(value) for name, value in self._commit_values(repository, commit).items()}
        author = {"author": lambda child, below: self._git_actor(commit, child, below)}
        return self._resolve("Commit", field.fields, {**known, **author}, path)

    def _commit_values(self, repository: Repository, commit: Commit) -> Json:
        subject, _, rest = commit.message.partition("\n")
        return {
            "oid": commit.sha,
            "abbreviatedOid": commit.sha[:7],
            "message": commit.message,
            "messageHeadline": subject,
            "messageBody": rest.strip("\n"),
            "committedDate": moment(commit.at),
            "authoredDate": moment(commit.at),
            "url": web_url(self._state, repository, f"/commit/{commit.sha}"),
        }

    def _git_actor(self, commit: Commit, field: Field, path: Any) -> object:
        login = commit.author.replace(" ", "-")
        known: Mapping[str, Callable[[Field, Any], object]] = {
            "name": _constant(commit.author),
            "email": _constant(commit.email),
            "date": _constant(moment(commit.at)),
            "user": lambda child, below: self._actor(login, child, below),
        }
        return self._resolve("GitActor", field.fields, known, path)

    def _actor(self, login: str, field: Field, path: Any) -> object:
        known = {"login": _constant(login), "url": _constant(f"{self._state.url}/{login}")}
        return self._resolve("User", field.fields, known, path)

    def _viewer(self, field: Field, path: Any) -> object:
        slug = self._caller.app.slug if self._caller.app else ""
        return self._actor(f"{slug}[bot]", field, path)

    def _rate_limit(self, field: Field, path: Any) -> object:
        quota = self._state.rate_limits.count(self._caller.name, requests=0)
        known = {name: _constant(getattr(quota, name)) for name in ("limit", "remaining", "used")}
        return self._resolve("RateLimit", field.fields, {**known, "cost": _constant(1)}, path)


def _constant(value: object) -> Callable[[Field, Any], object]:
    return lambda _field, _path: value
