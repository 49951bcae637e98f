"""What a job of GitHub Actions knows of itself, from its environment; and its identity token, a fresh one each time.

Also serves other CI systems, which set the names of the CI-neutral reporter (crcr-protocol 1.10). Sources:
https://docs.github.com/en/actions/reference/workflows-and-actions/variables and
https://docs.github.com/en/actions/reference/security/oidc.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import httpx

from relay.backend.reporting import AUDIENCE, BadReport, Job
from relay.failures import Failure

_TOKEN_TIMEOUT_S = 10.0


class NoIdentity(Failure):
    """The job has no identity token, so a relay could not tell who reports."""

    code = "no_identity"
    needs_login = True


def job_of(environment: Mapping[str, str], *, name: str = "", check_run_id: str = "") -> Job:
    """The job of this environment. `name` must differ between the jobs of a matrix, which share everything else.

    Raises:
        BadReport: the environment names no run.
    """
    run_id = environment.get("RUN_ID") or environment.get("GITHUB_RUN_ID", "")
    workflow = environment.get("WORKFLOW_NAME") or environment.get("GITHUB_WORKFLOW", "")
    job = name or environment.get("JOB_NAME") or environment.get("GITHUB_JOB", "")
    missing = [
        label for label, value in (("RUN_ID", run_id), ("WORKFLOW_NAME", workflow), ("JOB_NAME", job)) if not value
    ]
    if missing:
        raise BadReport(
            f"the environment does not say which job this is: {', '.join(missing)} missing",
            "GitHub Actions sets GITHUB_RUN_ID, GITHUB_WORKFLOW and GITHUB_JOB; other systems set the names above",
        )
    return Job(
        workflow=workflow,
        run_id=run_id,
        name=job,
        run_attempt=environment.get("RUN_ATTEMPT") or environment.get("GITHUB_RUN_ATTEMPT") or "1",
        url=environment.get("WORKFLOW_URL") or _run_url(environment, run_id),
        check_run_id=check_run_id or environment.get("CHECK_RUN_ID", ""),
    )


def token_source(environment: Mapping[str, str], transport: httpx.BaseTransport | None = None) -> Callable[[], str]:
    """Gives the bearer token of the job: a given one, or one from GitHub's token service for each call.

    Raises:
        NoIdentity: the environment has neither.
    """
    given = environment.get("OIDC_TOKEN", "")
    if given:
        return lambda: given
    url = environment.get("ACTIONS_ID_TOKEN_REQUEST_URL", "")
    bearer = environment.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "")
    if not url or not bearer:
        raise NoIdentity(
            "this job has no identity token",
            "give the job `permissions: id-token: write`, or set OIDC_TOKEN on another CI system",
        )
    return lambda: _ask(url, bearer, transport)


def tell_outputs(environment: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Give values to the steps that follow, where there is a file for that. Values are single lines of ours."""
    file = environment.get("GITHUB_OUTPUT", "")
    if file:
        with Path(file).open("a", encoding="utf-8") as stream:
            stream.writelines(f"{name}={value}\n" for name, value in outputs.items())


def _run_url(environment: Mapping[str, str], run_id: str) -> str:
    server, repo = environment.get("GITHUB_SERVER_URL", ""), environment.get("GITHUB_REPOSITORY", "")
    return f"{server}/{repo}/actions/runs/{run_id}" if server and repo else ""


def _ask(url: str, bearer: str, transport: httpx.BaseTransport | None) -> str:
    with httpx.Client(timeout=_TOKEN_TIMEOUT_S, transport=transport) as http:
        reply = http.get(
            httpx.URL(url).copy_merge_params({"audience": AUDIENCE}), headers={"Authorization": f"Bearer {bearer}"}
        )
        # A fault of the token service passes as one of the network does: the caller tries again.
        if reply.is_server_error:
            raise httpx.TransportError(f"the token service answered {reply.status_code}")
    value = reply.json().get("value") if reply.is_success else None
    if not isinstance(value, str):
        raise NoIdentity(
            f"GitHub's token service gave no token ({reply.status_code})", "give the job `permissions: id-token: write`"
        )
    return value
