"""`relay doctor` on the parts around a relay: each is there, or a warning says what waits and what to do."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse
from pydantic import SecretStr

from relay.cli.reach_checks import (
    check_allowlist,
    check_hud,
    check_proxy,
    check_queue,
    check_rights,
    check_sweep,
    check_upstream,
)
from relay.github.rights import needed_rights
from relay.intake.comment_wishes import COMMENT_EVENT
from relay.intake.events import SUPPORTED_EVENTS
from relay.settings import RelaySettings
from tests.deploy.deployed import DEPLOY
from tests.github.serving import one_key, serve_devgithub
from tests.relay.serving import serving
from tests.relay.stand_in import closed_port
from tests.workers.small_upstream import new_upstream

UPSTREAM = "pytorch/pytorch"
ALL = needed_rights(comments=True)


def test_upstream_is_read_as_workers_do(tmp_path: Path) -> None:
    upstream = new_upstream(tmp_path / "upstream")
    upstream.commit({"a": "text\n"})
    there = check_upstream(RelaySettings(upstream_clone_url=str(upstream.path)))
    assert (there.status, there.detail) == ("ok", f"{upstream.path} answers")


def test_an_upstream_that_is_away_or_none_is_a_warning_without_its_login(tmp_path: Path) -> None:
    for url in (f"file://{tmp_path}/nothing", "ext::sh"):
        assert check_upstream(RelaySettings(upstream_clone_url=url)).status == "warn"
    with closed_port() as url:
        found = check_upstream(RelaySettings(upstream_clone_url=url.replace("//", "//me:geheim-geheim@") + "/x.git"))
    assert (found.status, "geheim" in str(found)) == ("warn", False)
    assert "RELAY_UPSTREAM_CLONE_URL" in found.next_step


def test_the_hud(tmp_path: Path) -> None:
    assert check_hud(RelaySettings()).status == "skip"
    with serving(FastAPI()) as url:
        assert check_hud(RelaySettings(hud_url=url)).status == "ok"
    with closed_port() as url:
        assert check_hud(RelaySettings(hud_url=url)).status == "warn"


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("L2:\n  - acme/torch-acme\n", "ok", "1 backend"),
        ("- acme/torch-acme\n", "fail", "1:1: "),
        (None, "warn", "allowlist.yml"),
    ],
)
def test_the_allowlist(tmp_path: Path, text: str | None, status: str, said: str) -> None:
    file = tmp_path / "allowlist.yml"
    if text is not None:
        file.write_text(text)
    found = check_allowlist(RelaySettings(allowlist_url=f"file:{file}"))
    assert (found.status, said in found.detail) == (status, True), found
    assert check_allowlist(RelaySettings()).status == "skip"


@contextmanager
def an_app(permissions: Mapping[str, str], events: frozenset[str], on: str = UPSTREAM) -> Iterator[RelaySettings]:
    """An App on a GitHub of this machine, installed on one repository, and a relay that acts as it."""
    with serve_devgithub(described=False) as github:
        app = github.state.add_app(private_pem=one_key(), permissions=permissions, events=events)
        github.state.add_repository(on, app=app)
        yield RelaySettings(
            github_app_id=app.id,
            github_app_private_key=SecretStr(one_key()),
            github_api_url=github.url,
            github_web_url=github.url,
            comment_commands="upstream",
            allowlist_url="file:/nowhere",
        )


def test_an_app_with_all_rights_is_quiet() -> None:
    with an_app(ALL.permissions, ALL.events) as settings:
        assert check_rights(settings).status == "ok"


def test_what_an_app_lacks_is_named() -> None:
    """A lower level is too little; without commands in comments less is needed."""
    given = {**ALL.permissions, "checks": "read"}
    del given["issues"]
    with an_app(given, ALL.events - {"check_run", "issue_comment"}) as settings:
        found = check_rights(settings)
        without = check_rights(settings.model_copy(update={"comment_commands": "off"}))
    assert found.status == "fail"
    assert "the App lacks permissions checks: write, issues: write and events check_run, issue_comment" in found.detail
    assert "the App lacks permissions checks: write and events check_run" in without.detail


def test_an_app_that_is_installed_elsewhere() -> None:
    with an_app(ALL.permissions, ALL.events, on="acme/other") as settings:
        found = check_rights(settings)
    assert (found.status, found.detail) == ("fail", f"the App is not installed on {UPSTREAM}")
    assert check_rights(RelaySettings()).status == "skip"


def test_the_rights_are_those_of_the_manifest_and_of_the_code() -> None:
    manifest = json.loads((DEPLOY / "github" / "app-manifest.json").read_text())
    assert manifest["default_permissions"] == ALL.permissions
    assert frozenset(manifest["default_events"]) == ALL.events
    assert ALL.events == SUPPORTED_EVENTS | {COMMENT_EVENT}
    assert needed_rights(comments=False).events == SUPPORTED_EVENTS


def test_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_proxy().status == "skip"
    with serving(FastAPI()) as url:
        monkeypatch.setenv("HTTPS_PROXY", url)
        assert check_proxy().status == "ok"
    with closed_port() as url:
        monkeypatch.setenv("HTTPS_PROXY", url.replace("//", "//me:geheim@"))
        found = check_proxy()
    assert (found.status, "HTTPS_PROXY" in found.next_step, "geheim" in str(found)) == ("warn", True, False)


@contextmanager
def a_service(**readiness: object) -> Iterator[str]:
    app = FastAPI()

    @app.get("/readyz")
    def readyz() -> JSONResponse:
        return JSONResponse({"ready": True, **readiness})

    with serving(app) as url:
        yield url


def test_wheels_that_turn_and_wheels_that_stand(settings: RelaySettings) -> None:
    """By the service's own word, which holds ages of the record."""
    with a_service(sweep_age_s=1.0, queue_age_s={"spyre": 4.0}) as url:
        assert (check_sweep(settings, url).status, check_queue(settings, url).status) == ("ok", "ok")
        assert check_queue(settings, url).detail == "waiting: spyre 4 s"
    with a_service(sweep_age_s=600.0, late=["sweep", "outbox", "workers"]) as url:
        sweep, queue = check_sweep(settings, url), check_queue(settings, url)
    assert (sweep.status, "relay background" in sweep.next_step) == ("fail", True)
    assert (queue.status, queue.detail) == ("fail", "late: outbox, workers")
    with closed_port() as url:
        assert (check_sweep(settings, url).status, check_queue(settings, url).status) == ("skip", "skip")
