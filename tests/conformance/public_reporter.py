"""The public reporter, unmodified, against our relay: `python -m tests.conformance.public_reporter FILE`.

FILE is `report_callback.py` of a clone of pytorch/test-infra (`.github/actions/cross-repo-ci-relay-callback/`); needs
curl. Every documented sequence is run in both modes: a dispatched job's start and end at each level, two jobs of one
run, a second attempt, and self-reports. Every report must be answered with 200, and be in the record.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from sqlalchemy import func, select

from relay.store.crcr_models import BackendJob
from tests.conformance.building import building, conformance_settings_in, serving_callbacks
from tests.conformance.hud_stand_in import Hud, hud_application
from tests.conformance.payloads import S1, pull_request, push
from tests.conformance.tokens import Tokens
from tests.conformance.world import World
from tests.relay.serving import serving

_REPORTER_TIMEOUT_S = 30
_JOB = {"SCHEMA_VERSION": "1", "WORKFLOW_NAME": "CI", "RUN_ATTEMPT": "1", "JOB_NAME": "build", "RUN_ID": "100"}
_START = {"STATUS": "in_progress"}
_END = {
    "STATUS": "completed",
    "CONCLUSION": "success",
    "TEST_RESULTS": '{"passed": 80, "failed": 3, "skipped": 7}',
    "ARTIFACT_URL": "https://example.org/logs",
}
_FAILED = _END | {"CONCLUSION": "failure"}


def main() -> int:
    """Print a line for every report; 1 when one was refused."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance.public_reporter")
    parser.add_argument("reporter", type=Path, metavar="FILE")
    reporter = parser.parse_args().reporter.resolve(strict=True)
    hud, tokens, refused = Hud(), Tokens(), 0
    with serving(hud_application(hud)) as hud_url:
        for strict in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                settings = conformance_settings_in(Path(folder), f"{hud_url}/api", strict=strict)
                with building(settings, hud, tokens) as world:
                    refused += _drive(world, reporter)
    sys.stdout.write("every report was taken\n" if not refused else f"{refused} reports were refused\n")
    return 1 if refused else 0


def _drive(world: World, reporter: Path) -> int:
    """Run all sequences against one relay; how many reports were refused."""
    world.webhook("pull_request", pull_request())
    world.webhook("push", push(), delivery="d2")
    world.drain()
    refused = 0
    with serving_callbacks(world) as (url, _):
        for name, repo, told in _reports(world):
            status, said = _report(reporter, {"CALLBACK_URL": url, "OIDC_TOKEN": world.token(repo), **_JOB, **told})
            refused += status != "200"
            sys.stdout.write(f"{'strict' if world.strict else 'ours':6} {status:4} {name} {said}\n")
    with world.session() as session:
        jobs = session.scalar(select(func.count()).select_from(BackendJob))
    sys.stdout.write(f"jobs in the record: {jobs}\n")
    return refused


def _reports(world: World) -> Iterator[tuple[str, str, Mapping[str, str]]]:
    """What is reported in order: its name, by whom, and what the reporter is told."""
    for sent in world.github.dispatches:
        if sent.repo == "a/l1":
            continue
        payload = {"CLIENT_PAYLOAD": json.dumps(sent.client_payload)}
        where = f"{sent.repo} {sent.event_type}"
        legs = [("build", "1"), ("test (cpu, 1/2)", "1"), ("build", "2")]
        for job, attempt in legs:
            own = payload | {"JOB_NAME": job, "RUN_ATTEMPT": attempt, "WORKFLOW_URL": f"https://github.com/{sent.repo}"}
            yield f"{where}: {job}, attempt {attempt}, begins", sent.repo, own | _START
            yield f"{where}: {job}, attempt {attempt}, ends", sent.repo, own | (_FAILED if attempt == "1" else _END)
    for kind in ("nightly", "periodic"):
        own = {"DELIVERY_ID_OVERRIDE": S1, "EVENT_TYPE_OVERRIDE": kind, "WORKFLOW_URL": "https://github.com/a/l2"}
        world.github.commits[S1] = True
        yield f"a/l2 {kind} by itself", "a/l2", own | _END


def _report(reporter: Path, told: Mapping[str, str]) -> tuple[str, str]:
    """The status that the reporter was answered with, and what it complains of."""
    done = subprocess.run(
        [sys.executable, str(reporter)],
        env={"PATH": os.environ["PATH"], **told},
        capture_output=True,
        text=True,
        timeout=_REPORTER_TIMEOUT_S,
        check=False,
    )
    status = (done.stdout or done.stderr).rsplit("HTTP", 1)[-1].strip(" :.\n")
    return (status.split(".")[0][:4] or "none"), " ".join(done.stderr.split())


if __name__ == "__main__":
    sys.exit(main())
