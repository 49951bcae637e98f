"""The tables of the Cross-Repository CI Relay protocol: what was dispatched, what came back, what is still to be sent.

Owns names, types, keys and indexes; must not hold behaviour. Identities are columns, never joined texts: names of
workflows and jobs may hold any separator. `repo` is written as the allowlist writes it, `repo_key` is it casefolded.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import JSON, BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from relay.contract import MESSAGE_CAP, SHORT_CAP
from relay.store.columns import CappedText, ZippedJson, word
from relay.store.models import ID_CAP, Base

#: GitHub allows 100 characters in an owner's and in a repository's name each.
REPO_CAP = 201
#: SHA-1 today, SHA-256 in repositories of that format.
SHA_CAP = 64
#: Of a delivery's identity: `deliveries.delivery_id` has the same.
DELIVERY_CAP = 200
#: Of a workflow's and a job's name, which come from a backend; a longer one is refused, for it is part of an identity.
NAME_CAP = 300
#: Of a run id: GitHub's number, or any CI's own text.
RUN_ID_CAP = 100
#: Of a key or a lane in the outbox.
KEY_CAP = 600
#: Of the failed tests of one job: cut text would no longer be JSON, so this is far more than `relay.hud.extract` keeps.
FAILED_TESTS_CAP = 256 * 1024


class DispatchState(StrEnum):
    """What became of one delivery for one backend. `queued` moves on; the others are final, but for a replay."""

    QUEUED = "queued"
    DISPATCHED = "dispatched"
    FAILED = "failed"
    WITHDRAWN = "withdrawn"


class JobState(StrEnum):
    """A backend's job as it reported it. `completed` is final; a later truth replaces one that was only assumed."""

    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"


class OutboxKind(StrEnum):
    """What an outbox row sends."""

    DISPATCH = "dispatch"
    CHECK_RUN = "check_run"
    RERUN = "rerun"
    CANCEL = "cancel"
    HUD = "hud"
    #: Whom to tell of a delivery that came while no allowlist could be had.
    PLAN = "plan"
    #: That GitHub shall send a delivery again that we did not take.
    REDELIVER = "redeliver"
    #: The commands of a comment, until it is known whether their author may.
    COMMAND = "command"
    #: Our comment on a pull request.
    COMMENT = "comment"


class OutboxState(StrEnum):
    """A row's life: `due` and `sending` are open, `sent` and `dead` settled. A replay makes a dead row due again."""

    DUE = "due"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"


Base.registry.update_type_annotation_map(
    {kind: word(kind) for kind in (DispatchState, JobState, OutboxKind, OutboxState)}
)


class Dispatch(Base):
    """One upstream delivery for one backend: what was promised to it, and by which identity it may answer. The event's
    own facts (`pr_number`, `head_sha`, `labels`) are kept here, because an answer's echo of them proves nothing."""

    __tablename__ = "dispatches"
    __table_args__ = (
        UniqueConstraint("delivery_id", "repo_key"),
        *(Index(None, "state", "dispatched_at"), Index(None, "head_sha", "repo_key")),
        Index(None, "upstream_repo", "pr_number"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    delivery_id: Mapped[str] = mapped_column(String(DELIVERY_CAP))
    repo: Mapped[str] = mapped_column(String(REPO_CAP))
    repo_key: Mapped[str] = mapped_column(String(REPO_CAP))
    level: Mapped[str] = mapped_column(String(2))
    event_type: Mapped[str] = mapped_column(String(100))
    upstream_repo: Mapped[str] = mapped_column(String(REPO_CAP))
    pr_number: Mapped[int | None]
    head_sha: Mapped[str] = mapped_column(String(SHA_CAP), default="")
    nonce: Mapped[str] = mapped_column(String(100))
    state: Mapped[DispatchState]
    reason: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    trim: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    queued_at: Mapped[datetime]
    dispatched_at: Mapped[datetime | None]
    #: When a job was first heard of, or when it was given up as never started.
    answered_at: Mapped[datetime | None]
    not_started_at: Mapped[datetime | None]


class BackendJob(Base):
    """A job of a backend, as far as its callbacks told. `identity` is the digest of delivery, repository, workflow,
    job, run id and attempt, for a database bounds the length of a key. `in_progress_at` and `completed_at` are the
    relay's clock, `started_at` and `ended_at` what the job says of itself. `assumed` holds why an end was only supposed
    (a timeout); empty means the backend said so itself. The digests tell a repeat from a contradiction."""

    __tablename__ = "backend_jobs"
    __table_args__ = (
        *(Index(None, "delivery_id", "repo_key"), Index(None, "state", "deadline_at")),
        *(Index(None, "head_sha", "repo_key"), Index(None, "repo_key", "id")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(String(64), unique=True)
    delivery_id: Mapped[str] = mapped_column(String(DELIVERY_CAP))
    repo: Mapped[str] = mapped_column(String(REPO_CAP))
    repo_key: Mapped[str] = mapped_column(String(REPO_CAP))
    workflow: Mapped[str] = mapped_column(String(NAME_CAP))
    job_name: Mapped[str] = mapped_column(String(NAME_CAP), default="")
    run_id: Mapped[str] = mapped_column(String(RUN_ID_CAP))
    run_attempt: Mapped[int] = mapped_column(default=1)
    event_type: Mapped[str] = mapped_column(String(100))
    level: Mapped[str] = mapped_column(String(2))
    upstream_repo: Mapped[str] = mapped_column(String(REPO_CAP))
    pr_number: Mapped[int | None]
    head_sha: Mapped[str] = mapped_column(String(SHA_CAP), default="")
    state: Mapped[JobState]
    conclusion: Mapped[str | None] = mapped_column(String(32))
    assumed: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    in_progress_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    started_at: Mapped[str | None] = mapped_column(CappedText(64))
    ended_at: Mapped[str | None] = mapped_column(CappedText(64))
    queue_time: Mapped[float | None]
    execution_time: Mapped[float | None]
    rerun_requested_at: Mapped[datetime | None]
    deadline_at: Mapped[datetime | None]
    url: Mapped[str] = mapped_column(CappedText(ID_CAP), default="")
    reported_check: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    check_id: Mapped[int | None] = mapped_column(BigInteger)
    callback: Mapped[dict[str, Any]] = mapped_column(ZippedJson)
    in_progress_digest: Mapped[str] = mapped_column(String(64), default="")
    completed_digest: Mapped[str] = mapped_column(String(64), default="")
    mismatch: Mapped[list[str]] = mapped_column(JSON, default=list)
    verified: Mapped[bool | None]


class BackendJobEvent(Base):
    """One thing that was heard or supposed about a job, in order, never changed: a late truth stands beside the
    supposition that it replaced."""

    __tablename__ = "backend_job_events"
    __table_args__ = (Index(None, "job_id", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("backend_jobs.id"))
    at: Mapped[datetime]
    kind: Mapped[str] = mapped_column(String(64))
    text: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    callback: Mapped[dict[str, Any] | None] = mapped_column(ZippedJson)


class CheckWish(Base):
    """A backend's jobs on a commit are to be shown upstream as check runs: by its level, or by a label."""

    __tablename__ = "check_wishes"
    __table_args__ = (UniqueConstraint("upstream_repo", "head_sha", "repo_key"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    upstream_repo: Mapped[str] = mapped_column(String(REPO_CAP))
    head_sha: Mapped[str] = mapped_column(String(SHA_CAP))
    repo_key: Mapped[str] = mapped_column(String(REPO_CAP))
    pr_number: Mapped[int | None]
    reason: Mapped[str] = mapped_column(CappedText(SHORT_CAP))
    at: Mapped[datetime]


class OutboxItem(Base):
    """One request that must leave the relay, written in the transaction that decided it. `key` makes deciding twice the
    same as deciding once; rows of one `lane` leave in the order of their ids, an open one holds up those behind it.
    `open_since` is when it was first due; a replay starts it anew."""

    __tablename__ = "outbox"
    __table_args__ = (
        *(Index(None, "state", "due_at"), Index(None, "lane", "id"), Index(None, "state", "kind")),
        Index(None, "settled_at", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[OutboxKind]
    key: Mapped[str] = mapped_column(String(KEY_CAP), unique=True)
    lane: Mapped[str] = mapped_column(String(KEY_CAP))
    target: Mapped[str] = mapped_column(CappedText(ID_CAP))
    body: Mapped[dict[str, Any]] = mapped_column(ZippedJson)
    state: Mapped[OutboxState]
    attempts: Mapped[int] = mapped_column(default=0)
    due_at: Mapped[datetime]
    lease_id: Mapped[str | None] = mapped_column(String(64))
    lease_expires_at: Mapped[datetime | None]
    last_status: Mapped[int | None]
    last_error: Mapped[str] = mapped_column(CappedText(MESSAGE_CAP), default="")
    created_at: Mapped[datetime]
    open_since: Mapped[datetime]
    settled_at: Mapped[datetime | None]
    dispatch_id: Mapped[int | None] = mapped_column(ForeignKey("dispatches.id"))
    job_id: Mapped[int | None] = mapped_column(ForeignKey("backend_jobs.id"))


class CrcrResult(Base):
    """A row of the results store, in the columns that `/api/crcr` readers know (crcr-protocol 1.7). `identity` is the
    digest of what makes a job one job; `dynamo_key` is the text that the original answers and stores. `listed_at` is
    the start, or the best that is known of one: a job whose start was never told still is in a list by time."""

    __tablename__ = "crcr_results"
    __table_args__ = (
        *(Index(None, "repo_key", "listed_at"), Index(None, "event_type", "listed_at"), Index(None, "listed_at")),
        *(Index(None, "pr_number"), Index(None, "pytorch_head_sha")),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    identity: Mapped[str] = mapped_column(String(64), unique=True)
    dynamo_key: Mapped[str] = mapped_column(CappedText(4 * ID_CAP))
    status: Mapped[str] = mapped_column(CappedText(32))
    conclusion: Mapped[str] = mapped_column(CappedText(64), default="")
    downstream_repo: Mapped[str] = mapped_column(String(REPO_CAP))
    repo_key: Mapped[str] = mapped_column(String(REPO_CAP))
    downstream_repo_level: Mapped[str] = mapped_column(CappedText(16), default="")
    upstream_repo: Mapped[str] = mapped_column(CappedText(REPO_CAP))
    pr_number: Mapped[int] = mapped_column(BigInteger, default=0)
    pytorch_head_sha: Mapped[str] = mapped_column(String(DELIVERY_CAP))
    delivery_id: Mapped[str] = mapped_column(CappedText(DELIVERY_CAP))
    event_type: Mapped[str] = mapped_column(String(100), default="pull_request")
    workflow_name: Mapped[str] = mapped_column(CappedText(NAME_CAP))
    workflow_run_url: Mapped[str] = mapped_column(CappedText(ID_CAP), default="")
    job_name: Mapped[str] = mapped_column(CappedText(NAME_CAP))
    check_run_id: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    run_id: Mapped[str] = mapped_column(CappedText(RUN_ID_CAP), default="")
    run_attempt: Mapped[int] = mapped_column(default=1)
    queue_time: Mapped[float | None]
    execution_time: Mapped[float | None]
    started_at: Mapped[datetime | None]
    completed_at: Mapped[datetime | None]
    total_tests: Mapped[int] = mapped_column(BigInteger, default=0)
    passed_tests: Mapped[int] = mapped_column(BigInteger, default=0)
    failed_tests: Mapped[int] = mapped_column(BigInteger, default=0)
    skipped_tests: Mapped[int] = mapped_column(BigInteger, default=0)
    failed_tests_json: Mapped[str] = mapped_column(CappedText(FAILED_TESTS_CAP), default="")
    artifact_url: Mapped[str] = mapped_column(CappedText(ID_CAP), default="")
    environment: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    triage_verdict: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    first_seen_at: Mapped[datetime]
    listed_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class Demotion(Base):
    """An L3 backend whose lowering is proposed upstream, by pull request `pr_number`; known to us since `since`."""

    __tablename__ = "demotions"

    repo_key: Mapped[str] = mapped_column(String(REPO_CAP), primary_key=True)
    repo: Mapped[str] = mapped_column(String(REPO_CAP))
    pr_number: Mapped[int]
    since: Mapped[datetime]


class SeenToken(Base):
    """A bearer token that was used, by its issuer and `jti`, until it expires: it opens the door for one body only."""

    __tablename__ = "seen_tokens"
    __table_args__ = (UniqueConstraint("issuer", "jti"), Index(None, "expires_at"))

    id: Mapped[int] = mapped_column(primary_key=True)
    issuer: Mapped[str] = mapped_column(String(200))
    jti: Mapped[str] = mapped_column(String(200))
    body_digest: Mapped[str] = mapped_column(String(64))
    uses: Mapped[int] = mapped_column(default=1)
    expires_at: Mapped[datetime]


class RateBucket(Base):
    """A token bucket that all replicas share: `tokens` as of `refilled_at`."""

    __tablename__ = "rate_buckets"

    key: Mapped[str] = mapped_column(String(KEY_CAP), primary_key=True)
    tokens: Mapped[float]
    refilled_at: Mapped[datetime]


class RemoteDocument(Base):
    """A text that is kept elsewhere and read here (the allowlist, the CI providers): the last one that was good, and
    what was wrong with a newer one. `seen_*` tells of the newest one, good or not."""

    __tablename__ = "remote_documents"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    url: Mapped[str] = mapped_column(CappedText(ID_CAP))
    good_text: Mapped[str | None] = mapped_column(CappedText(MESSAGE_CAP * 512))
    good_at: Mapped[datetime | None]
    seen_etag: Mapped[str] = mapped_column(CappedText(SHORT_CAP), default="")
    seen_digest: Mapped[str] = mapped_column(String(64), default="")
    checked_at: Mapped[datetime | None]
    problem: Mapped[str] = mapped_column(CappedText(MESSAGE_CAP), default="")
