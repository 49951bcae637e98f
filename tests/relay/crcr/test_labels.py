"""The label that asks for an L3 backend's checks: whose are shown, which jobs at once, and when it is ignored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.orm import Session

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr import effects
from relay.crcr.check_runs import in_line, wished
from relay.crcr.labels import device_of, handle_label
from relay.crcr.supposing import suppose_strictly
from relay.store.crcr_models import BackendJob, JobState, OutboxKind
from relay.store.engine import Store
from tests.conformance.payloads import S1, S2, UPSTREAM, labeled
from tests.relay.crcr.stage import Stage, completed, staged
from tests.relay.meanwhile import meanwhile

LABEL = "ciflow/crcr/npu"


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(context) as made:
        yield made


@pytest.fixture
def anywhere(context: RelayContext, store: Store) -> Iterator[Stage]:
    """The same on SQLite and on PostgreSQL, for what asks the record more than for a row."""
    with staged(replace(context, store=store)) as made:
        yield made


def label(stage: Stage, payload: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The answer to a label, and everything sent that came of it."""
    allowlist = stage.allowlist.current().allowlist
    with stage.context.store.writing() as session:
        body = labeled(LABEL) if payload is None else payload
        answer = handle_label(session, stage.context.settings, allowlist, body, stage.clock())
    stage.outbox.deliver_due()
    return answer


def is_wished(stage: Stage, repo: str = "a/l3", sha: str = S1) -> bool:
    """Whether the backend's jobs are shown on the commit."""
    with stage.context.store.reading() as session:
        return wished(session, UPSTREAM, sha, repo)


@pytest.mark.parametrize(
    ("text", "device"), [(LABEL, "npu"), ("ciflow/crcr/", ""), ("ciflow/trunk", None), ("crcr/npu", None), ("", None)]
)
def test_a_label_names_a_device_by_its_prefix(text: str, device: str | None) -> None:
    """Others name none."""
    assert device_of(text) == device


def test_only_the_newest_attempt_of_each_job_is_shown(anywhere: Stage) -> None:
    """Jobs of one name in two workflows are two; of another commit or backend none."""
    anywhere.add(level=Level.L3)
    anywhere.add(level=Level.L3, run_attempt=2, state=JobState.COMPLETED, conclusion="failure")
    anywhere.add(level=Level.L3, workflow="Nightly")
    anywhere.add(level=Level.L3, head_sha=S2)
    anywhere.add(level=Level.L4)
    assert label(anywhere)["created_check_runs"] == ["a/l3/build", "a/l3/build"]
    shown = {check.check.name: check.check.conclusion for check in anywhere.github.checks.values()}
    assert shown == {"crcr/a/l3/CI/build": "failure", "crcr/a/l3/Nightly/build": None}


def test_the_same_label_twice_shows_nothing_twice(anywhere: Stage) -> None:
    """A webhook that comes again is answered the same, and sends nothing."""
    anywhere.add(level=Level.L3)
    assert label(anywhere) == label(anywhere)
    assert len(anywhere.queued(OutboxKind.CHECK_RUN)) == 1


@pytest.mark.parametrize(
    "pull", [None, {"number": 7}, {"number": "7", "head": {"sha": S1}}, {"number": 7, "head": {"sha": "0" * 40}}]
)
def test_a_label_of_nothing_is_ignored(stage: Stage, pull: object) -> None:
    """Whatever of the pull request is not as GitHub documents it."""
    payload = labeled(LABEL) | {"pull_request": pull, "number": None}
    assert label(stage, payload) == {"ignored": True, "reason": "missing pr context"}


@pytest.mark.parametrize("broken", [{"label": None}, {"label": {}}, {"label": {"name": 3}}, {"label": "x"}])
def test_a_label_without_a_name_is_another_label(stage: Stage, broken: dict[str, Any]) -> None:
    """It asks for nothing of ours."""
    assert label(stage, labeled(LABEL) | broken) == {"ignored": True}


@pytest.mark.parametrize("strict", [False, True])
def test_a_closed_pull_request_is_labelled_in_vain(stage: Stage, strict: bool) -> None:
    """Nobody looks at its checks; the original does not ask."""
    stage.set(crcr_strict_compat=strict)
    stage.add(level=Level.L3)
    payload = labeled(LABEL)
    payload["pull_request"]["state"] = "closed"
    assert label(stage, payload).get("ignored", False) is not strict
    assert is_wished(stage) is strict


def test_a_backend_that_does_not_take_part_is_not_shown(stage: Stage) -> None:
    """One that only wants nightly events has nothing to do with a pull request."""
    stage.allowlist.text = "L3:\n  npu:\n    a/l3: {oncalls: [x], events: [nightly]}\n    b/l3: [x]\n"
    stage.add(level=Level.L3)
    assert label(stage)["created_check_runs"] == []
    assert (is_wished(stage), is_wished(stage, "b/l3")) == (False, True)


def test_what_ended_long_ago_is_not_dug_out(stage: Stage) -> None:
    """Jobs are shown while the original would know of them; what is still running was started since."""
    stage.add(level=Level.L3, state=JobState.COMPLETED, conclusion="success", completed_at=stage.clock())
    stage.clock.tick(stage.context.settings.crcr_status_ttl_s + 1)
    assert label(stage)["created_check_runs"] == []


def reporting(stage: Stage, job: BackendJob) -> Callable[[Session], None]:
    """An L3 backend's report that a job is what it is now, taken in as the callback's door does."""

    def report(session: Session) -> None:
        known = session.merge(job)
        session.flush()
        effects.apply(session, stage.context.settings, known, job.callback, level=Level.L3, now=stage.clock())

    return report


def labelling(stage: Stage) -> Callable[[Session], None]:
    """The label comes."""
    allowlist = stage.allowlist.current().allowlist

    def come(session: Session) -> None:
        handle_label(session, stage.context.settings, allowlist, labeled(LABEL), stage.clock())

    return come


@pytest.mark.parametrize("first", ["label", "report"])
@pytest.mark.parametrize("known", [True, False])
def test_a_label_and_a_report_at_once_show_the_job_as_it_is(anywhere: Stage, first: str, known: bool) -> None:
    """Neither is committed when the other comes, be it the job's first report or its last."""
    store = anywhere.context.store
    ended = completed(anywhere.clock(), level=Level.L3, id=1, identity="1" * 64)
    if known:
        anywhere.add(level=Level.L3, id=1, identity="1" * 64)
    steps = [labelling(anywhere), reporting(anywhere, ended)]
    one, other = steps if first == "label" else reversed(steps)

    def second() -> None:
        with store.writing() as session:
            other(session)

    meanwhile(store, one, second)
    anywhere.outbox.deliver_due()
    assert [check.check.conclusion for check in anywhere.github.checks.values()] == ["success"]


def test_a_label_and_the_strict_sweep_never_wait_for_each_other(anywhere: Stage) -> None:
    """The sweep has locked the job when it waits for the label, which has yet to write of that job."""
    anywhere.set(crcr_strict_compat=True)
    job = anywhere.add(level=Level.L3)
    meanwhile(
        anywhere.context.store,
        lambda session: in_line(session, job.head_sha),
        lambda: suppose_strictly(anywhere.context, job.id, Level.L3),
        labelling(anywhere),
    )
    assert anywhere.job(job.id).state is JobState.COMPLETED
