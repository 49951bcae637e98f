"""Routes of check runs and check suites."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Depends, Query, Request, Response

from relay.devgithub import checks
from relay.devgithub.access import Caller, CallerOf, RepositoryOf, State
from relay.devgithub.bodies import Json
from relay.devgithub.check_bodies import check_run, suite_runs
from relay.devgithub.paging import PageNumber, PageSize, page_of
from relay.devgithub.records import App, CheckRun, RefusedError, Repository, not_found
from relay.devgithub.state import DevGitHub

router = APIRouter(prefix="/repos/{owner}/{repo}")
Fields = Annotated[dict[str, Any], Body()]


class Choice:
    """Which check runs of a list are wanted (a FastAPI dependency)."""

    def __init__(
        self,
        request: Request,
        response: Response,
        *,
        check_name: str = "",
        status: str = "",
        which: Annotated[Literal["latest", "all"], Query(alias="filter")] = "latest",
        page: PageNumber = 1,
        per_page: PageSize = 30,
    ) -> None:
        self._wanted = check_name, status
        self._latest = which == "latest"
        self._page = page, per_page, request, response

    def body(self, state: DevGitHub, repository: Repository, runs: list[CheckRun]) -> Json:
        """The page of the list."""
        name, status = self._wanted
        kept = checks.newest_of_each_name(runs) if self._latest else runs
        kept = [run for run in kept if name in ("", run.name) and status in ("", run.status)]
        shown = page_of(kept, *self._page)
        return {"total_count": len(kept), "check_runs": [check_run(state, repository, each) for each in shown]}


Chosen = Annotated[Choice, Depends()]


@router.post("/check-runs", status_code=201)
def create(repository: RepositoryOf, caller: CallerOf, state: State, fields: Fields) -> Json:
    """A new check run."""
    made = checks.create_check_run(state, repository, _writer(caller, repository), fields)
    return check_run(state, repository, made)


@router.patch("/check-runs/{check_run_id}")
def update(check_run_id: int, repository: RepositoryOf, caller: CallerOf, state: State, fields: Fields) -> Json:
    """A check run, changed."""
    changed = checks.update_check_run(state, repository, _writer(caller, repository), check_run_id, fields)
    return check_run(state, repository, changed)


@router.get("/check-runs/{check_run_id}")
def get(check_run_id: int, repository: RepositoryOf, caller: CallerOf, state: State) -> Json:
    """A check run."""
    caller.check(repository, "checks")
    return check_run(state, repository, checks.find_check_run(repository, check_run_id))


@router.get("/check-suites/{check_suite_id}/check-runs")
def list_of_suite(
    check_suite_id: int, repository: RepositoryOf, caller: CallerOf, state: State, choice: Chosen
) -> Json:
    """The check runs of a suite."""
    caller.check(repository, "checks")
    runs = suite_runs(repository, checks.find_suite(repository, check_suite_id))
    return choice.body(state, repository, runs)


@router.get("/commits/{ref}/check-runs")
def list_of_commit(ref: str, repository: RepositoryOf, caller: CallerOf, state: State, choice: Chosen) -> Json:
    """The check runs on a commit."""
    caller.check(repository, "checks")
    commit = repository.source.commit(ref)
    if commit is None:
        raise not_found()
    return choice.body(state, repository, checks.checks_on(repository, commit.sha))


def _writer(caller: Caller, repository: Repository) -> App:
    caller.check(repository, "checks", "write")
    if caller.app is None:
        raise RefusedError(401, "Requires authentication")
    return caller.app
